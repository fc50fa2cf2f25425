# The unwinder of bpf/, compiled into the agent. host/ stands in for libbpf's headers.
# gcc 12 stores pairs of the walk's words at once, for each of which the next step waits, and makes
# conditional moves of branches that go the same way mostly: 3 of 25 ns a frame.
set(gcc_only -fno-tree-slp-vectorize -fno-if-conversion)
set(unwinder_dir ${PROJECT_SOURCE_DIR}/src/user_walk)
add_library(bobbin_unwinder_c OBJECT ${unwinder_dir}/unwinder.c)
target_include_directories(bobbin_unwinder_c BEFORE PRIVATE
  ${unwinder_dir}/host ${PROJECT_SOURCE_DIR}/bpf ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(bobbin_unwinder_c PRIVATE bobbin_abi)
target_compile_options(bobbin_unwinder_c PRIVATE
  -std=gnu11 -O3 "$<$<C_COMPILER_ID:GNU>:${gcc_only}>"
  -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas -Wno-missing-field-initializers
  $<$<BOOL:${BOBBIN_WERROR}>:-Werror>)

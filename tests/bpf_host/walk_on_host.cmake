# The unwinder of bpf/ as a user-space walker, with tables made by the modules that make the kernel's.
include_guard(GLOBAL)

set(here ${CMAKE_CURRENT_LIST_DIR})
# gcc 12 stores pairs of the walk's words at once, for each of which the next step waits, and makes
# conditional moves of branches that go the same way mostly: 3 of 25 ns a frame.
set(gcc_only -fno-tree-slp-vectorize -fno-if-conversion)
add_library(bobbin_walk_on_host_c OBJECT ${here}/walk_on_host.c)
target_include_directories(bobbin_walk_on_host_c BEFORE PRIVATE ${here}/include)
target_link_libraries(bobbin_walk_on_host_c PRIVATE bobbin_abi)
target_compile_options(bobbin_walk_on_host_c PRIVATE
  -std=gnu11 -O3 "$<$<C_COMPILER_ID:GNU>:${gcc_only}>"
  -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas -Wno-missing-field-initializers
  $<$<BOOL:${BOBBIN_WERROR}>:-Werror>)

add_library(bobbin_walk_on_host STATIC
  $<TARGET_OBJECTS:bobbin_walk_on_host_c> ${here}/traced_process.cpp ${here}/traced_mappings.cpp
  ${here}/walk_tables.cpp)
target_include_directories(bobbin_walk_on_host PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(bobbin_walk_on_host
  PUBLIC bobbin_abi bobbin_base bobbin_elf bobbin_unwind_table bobbin_executable bobbin_unwind_feed
  PRIVATE bobbin_warnings GTest::gtest)

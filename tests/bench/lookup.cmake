# lookup_bench: one look-up in the unwind table inside the kernel, against a page hash with rows of 8
# bytes. Run as root:  build/tests/bench/lookup_bench [FILE...]
set(lookup_object ${CMAKE_CURRENT_BINARY_DIR}/lookup.bpf.o)
set(lookup_skeleton ${CMAKE_CURRENT_BINARY_DIR}/lookup.skel.h)
add_custom_command(
  OUTPUT ${lookup_object}
  COMMAND ${BOBBIN_BPF_CLANG} -target bpf -mcpu=v3 -std=gnu11 -O2 -g -Wall -Wextra -Werror
          -Wno-unused-parameter -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/bpf
          -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
          -MD -MF ${lookup_object}.d -MT ${lookup_object}
          -c ${CMAKE_CURRENT_LIST_DIR}/lookup.bpf.c -o ${lookup_object}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/lookup.bpf.c
  DEPFILE ${lookup_object}.d
  COMMENT "BPF lookup.bpf.o"
  VERBATIM)
add_custom_command(
  OUTPUT ${lookup_skeleton}
  COMMAND sh -c "\"$1\" gen skeleton \"$2\" name $0 > \"$3.tmp\" && mv \"$3.tmp\" \"$3\""
          lookup_bpf ${BOBBIN_BPFTOOL} ${lookup_object} ${lookup_skeleton}
  DEPENDS ${lookup_object}
  COMMENT "BPF lookup.skel.h"
  VERBATIM)

add_executable(lookup_bench ${CMAKE_CURRENT_LIST_DIR}/lookup_bench.cpp
                            ${CMAKE_CURRENT_LIST_DIR}/lookup_rows.cpp ${lookup_skeleton})
target_include_directories(lookup_bench SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_link_libraries(lookup_bench PRIVATE bobbin_unwind_feed bobbin_sampler PkgConfig::LIBBPF
                                           bobbin_test_support bobbin_warnings)

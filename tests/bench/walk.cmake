# walk_cost: what a sample and a further frame cost, against the kernel's own walk. Run as root:
#   build/tests/bench/walk_cost [SECONDS A MEASUREMENT]
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

set(walk_object ${CMAKE_CURRENT_BINARY_DIR}/walk_reference.bpf.o)
set(walk_skeleton ${CMAKE_CURRENT_BINARY_DIR}/walk_reference.skel.h)
add_custom_command(
  OUTPUT ${walk_object}
  COMMAND ${BOBBIN_BPF_CLANG} -target bpf -mcpu=v3 -std=gnu11 -O2 -g -Wall -Wextra -Werror
          -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
          -c ${CMAKE_CURRENT_LIST_DIR}/walk_reference.bpf.c -o ${walk_object}
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/walk_reference.bpf.c
  COMMENT "BPF walk_reference.bpf.o"
  VERBATIM)
add_custom_command(
  OUTPUT ${walk_skeleton}
  COMMAND sh -c "\"$1\" gen skeleton \"$2\" name $0 > \"$3.tmp\" && mv \"$3.tmp\" \"$3\""
          walk_reference_bpf ${BOBBIN_BPFTOOL} ${walk_object} ${walk_skeleton}
  DEPENDS ${walk_object}
  COMMENT "BPF walk_reference.skel.h"
  VERBATIM)

add_executable(walk_cost ${CMAKE_CURRENT_LIST_DIR}/walk_cost.cpp
                         ${CMAKE_CURRENT_LIST_DIR}/walk_program_stats.cpp ${walk_skeleton})
target_include_directories(walk_cost SYSTEM PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_compile_definitions(walk_cost PRIVATE BOBBIN_BENCH_CLANGXX="${BOBBIN_FIXTURE_CLANGXX}")
target_link_libraries(walk_cost PRIVATE bobbin_record_harness PkgConfig::LIBBPF bobbin_warnings)
add_dependencies(walk_cost bobbin_main bobbin_fixtures)

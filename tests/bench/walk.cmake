# walk_cost: what a sample and a further frame cost, against the kernel's own walk; walk_parts: what of
# that mappings, stack reads, tables and output are. Run as root:
#   build/tests/bench/walk_cost [SECONDS A MEASUREMENT]
#   build/tests/bench/walk_parts [SECONDS A MEASUREMENT]
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bpf_skeleton(walk_reference FOLDER ${CMAKE_CURRENT_LIST_DIR})

bpf_skeleton(walk_parts FOLDER ${CMAKE_CURRENT_LIST_DIR})

foreach(bench walk_cost walk_parts)
  add_executable(${bench} ${CMAKE_CURRENT_LIST_DIR}/${bench}.cpp
                          ${CMAKE_CURRENT_LIST_DIR}/pinned_target.cpp
                          ${CMAKE_CURRENT_LIST_DIR}/walk_program_stats.cpp)
  target_compile_definitions(${bench} PRIVATE BOBBIN_BENCH_CLANGXX="${BOBBIN_FIXTURE_CLANGXX}")
  target_link_libraries(${bench} PRIVATE bobbin_walk_reference_skel bobbin_walk_parts_skel
                                         bobbin_record_harness PkgConfig::LIBBPF bobbin_warnings)
  add_dependencies(${bench} bobbin_main bobbin_fixtures)
endforeach()

# walk_cost: what a sample and a further frame cost, against the kernel's own walk. Run as root:
#   build/tests/bench/walk_cost [SECONDS A MEASUREMENT]
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bpf_skeleton(walk_reference FOLDER ${CMAKE_CURRENT_LIST_DIR})

add_executable(walk_cost ${CMAKE_CURRENT_LIST_DIR}/walk_cost.cpp
                         ${CMAKE_CURRENT_LIST_DIR}/walk_program_stats.cpp)
target_compile_definitions(walk_cost PRIVATE BOBBIN_BENCH_CLANGXX="${BOBBIN_FIXTURE_CLANGXX}")
target_link_libraries(walk_cost PRIVATE bobbin_walk_reference_skel bobbin_record_harness
                                        PkgConfig::LIBBPF bobbin_warnings)
add_dependencies(walk_cost bobbin_main bobbin_fixtures)

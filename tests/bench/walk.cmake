# walk_cost: what a sample and a further frame cost, against the kernel's own walk; walk_parts: what of
# that mappings, tables, stack reads, output and the kernel's stack are. Run as root:
#   build/tests/bench/walk_cost [SECONDS A MEASUREMENT]
#   build/tests/bench/walk_parts [SECONDS A MEASUREMENT]
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bpf_skeleton(walk_reference FOLDER ${CMAKE_CURRENT_LIST_DIR})
bpf_skeleton(timed_walk FOLDER ${CMAKE_CURRENT_LIST_DIR} AS profiler
             FLAGS -I${PROJECT_SOURCE_DIR}/bpf -I${PROJECT_SOURCE_DIR}/tests)

# bobbin with the timed BPF object: the one file that holds it is compiled again, in front of the library.
add_executable(timed_bobbin ${PROJECT_SOURCE_DIR}/src/main.cpp
                            ${PROJECT_SOURCE_DIR}/src/sampler/bpf_program.cpp)
set_target_properties(timed_bobbin PROPERTIES UNITY_BUILD OFF)
target_include_directories(timed_bobbin BEFORE PRIVATE
  $<TARGET_PROPERTY:bobbin_timed_walk_skel,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(timed_bobbin PRIVATE bobbin_timed_walk_skel bobbin_service bobbin_warnings)

foreach(bench walk_cost walk_parts)
  add_executable(${bench} ${CMAKE_CURRENT_LIST_DIR}/${bench}.cpp
                          ${CMAKE_CURRENT_LIST_DIR}/pinned_target.cpp
                          ${CMAKE_CURRENT_LIST_DIR}/walk_program_stats.cpp)
  target_compile_definitions(${bench} PRIVATE BOBBIN_BENCH_CLANGXX="${BOBBIN_FIXTURE_CLANGXX}")
  target_link_libraries(${bench} PRIVATE bobbin_walk_reference_skel bobbin_record_harness
                                         PkgConfig::LIBBPF bobbin_warnings)
  add_dependencies(${bench} bobbin_main bobbin_fixtures)
endforeach()
target_compile_definitions(walk_parts PRIVATE BOBBIN_TIMED="$<TARGET_FILE:timed_bobbin>")
add_dependencies(walk_parts timed_bobbin)

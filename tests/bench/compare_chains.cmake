# compare_chains: share of exact call chains, bobbin beside `perf record`. Run as root; needs perf:
#   build/tests/bench/compare_chains [SECONDS OF CPU TIME A PROGRAM]
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

add_executable(compare_chains
  ${CMAKE_CURRENT_LIST_DIR}/compare_chains.cpp ${CMAKE_CURRENT_LIST_DIR}/compare_perf_script.cpp
  ${CMAKE_CURRENT_LIST_DIR}/compare_workloads.cpp
  ${PROJECT_SOURCE_DIR}/tests/kernel/known_stacks.cpp
  ${PROJECT_SOURCE_DIR}/tests/kernel/sampled_fixture.cpp)
target_link_libraries(compare_chains PRIVATE bobbin_record_harness bobbin_warnings)
add_dependencies(compare_chains bobbin_main bobbin_fixtures)

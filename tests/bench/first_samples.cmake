# first_samples: what comes back of processes that live for milliseconds. Run as root:
#   build/tests/bench/first_samples [SECONDS OF A LOAD]
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/processes.cmake)

add_executable(first_samples
  ${CMAKE_CURRENT_LIST_DIR}/first_samples.cpp ${CMAKE_CURRENT_LIST_DIR}/first_samples_cost.cpp
  ${PROJECT_SOURCE_DIR}/tests/kernel/processes_stacks.cpp)
target_link_libraries(first_samples PRIVATE bobbin_record_harness bobbin_warnings)
add_dependencies(first_samples bobbin_main bobbin_process_fixtures)

# The whole program against processes as they live: short ones, and such from anywhere.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/processes.cmake)

bobbin_record_test(kernel_processes LABEL kernel TIMEOUT 600
                   SOURCES places_mappings_test.cpp places_test.cpp processes_first_samples_test.cpp
                           processes_stacks.cpp processes_test.cpp)
add_dependencies(kernel_processes bobbin_process_fixtures)

# The whole program in a pid namespace of its own, as in a container.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/processes.cmake)

bobbin_record_test(kernel_pid_namespace LABEL kernel TIMEOUT 300
                   SOURCES pid_namespace_test.cpp processes_stacks.cpp)
add_dependencies(kernel_pid_namespace bobbin_process_fixtures)

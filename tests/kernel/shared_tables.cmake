# Copies of one program, and programs that only seem to be copies.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/processes.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/large_tables.cmake)

bobbin_record_test(kernel_shared_tables LABEL kernel TIMEOUT 300
                   SOURCES shared_tables_test.cpp processes_stacks.cpp)
add_dependencies(kernel_shared_tables bobbin_process_fixtures bobbin_large_table_fixtures)

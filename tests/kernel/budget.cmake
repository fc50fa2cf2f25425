# More unwind tables than bobbin may keep in the kernel.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/large_tables.cmake)

bobbin_record_test(kernel_budget LABEL kernel TIMEOUT 600 SOURCES budget_test.cpp)
add_dependencies(kernel_budget bobbin_large_table_fixtures)

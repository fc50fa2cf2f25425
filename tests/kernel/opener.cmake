# The whole program against files that do not stay, or may not be held for long.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/opener.cmake)

bobbin_record_test(kernel_opener LABEL kernel TIMEOUT 600 SOURCES many_files_test.cpp opener_test.cpp)
add_dependencies(kernel_opener bobbin_opener_fixtures)

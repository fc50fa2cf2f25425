# The whole program against programs with a known call chain.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bobbin_record_test(kernel_record LABEL kernel TIMEOUT 600
                   SOURCES sampled_fixture.cpp shares_test.cpp system_wide_test.cpp whole_stacks_test.cpp)

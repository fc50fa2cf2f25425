# Go programs: a goroutine's stack, the thread's own and C's.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bobbin_record_test(kernel_go LABEL kernel TIMEOUT 600
                   SOURCES go_stacks_test.cpp sampled_fixture.cpp)
target_link_libraries(kernel_go PRIVATE bobbin_elf bobbin_go_version)

# Who is sampled, and that the rest costs nothing: processes, threads, cgroups, names.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bobbin_record_test(kernel_targets LABEL kernel TIMEOUT 600
                   SOURCES targets_test.cpp targets_in_kernel_test.cpp scratch_cgroup.cpp)
target_link_libraries(kernel_targets PRIVATE bobbin_sampler)

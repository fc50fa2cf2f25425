# Rules remembered from walk to walk, against the tables, while code changes under its addresses.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bobbin_record_test(kernel_rule_memory LABEL kernel TIMEOUT 600 SOURCES rule_memory_test.cpp)
target_link_libraries(kernel_rule_memory PRIVATE bobbin_sampler PkgConfig::LIBBPF)

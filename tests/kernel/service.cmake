# `bobbin daemon` on the live kernel.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

find_program(BOBBIN_ZSTD NAMES zstd REQUIRED)
bobbin_record_test(kernel_service LABEL kernel TIMEOUT 600
                   SOURCES service_daemon.cpp service_test.cpp service_exports_test.cpp)
# What back ends do with what they get.
target_link_libraries(kernel_service PRIVATE bobbin_profile bobbin_otlp_proto
                      nlohmann_json::nlohmann_json)
target_compile_definitions(kernel_service PRIVATE BOBBIN_ZSTD="${BOBBIN_ZSTD}")

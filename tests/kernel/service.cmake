# `bobbin daemon` on the live kernel.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

find_program(BOBBIN_ZSTD NAMES zstd REQUIRED)
bobbin_record_test(kernel_service LABEL kernel TIMEOUT 600
                   SOURCES service_daemon.cpp service_test.cpp)
target_compile_definitions(kernel_service PRIVATE BOBBIN_ZSTD="${BOBBIN_ZSTD}")

bobbin_test(kernel_event_opener LABEL kernel LIBRARIES bobbin_sampler
            SOURCES event_opener_test.cpp ${PROJECT_SOURCE_DIR}/tests/support/temporary_directory.cpp)

# Alone in its program: the test gives rights up.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
find_program(BOBBIN_ZSTD NAMES zstd REQUIRED)
bobbin_record_test(kernel_event_opener_program LABEL kernel
                   SOURCES event_opener_program_test.cpp service_daemon.cpp)
target_link_libraries(kernel_event_opener_program PRIVATE bobbin_sampler)
target_compile_definitions(kernel_event_opener_program PRIVATE BOBBIN_ZSTD="${BOBBIN_ZSTD}")

bobbin_test(kernel_event_opener LABEL kernel LIBRARIES bobbin_sampler
            SOURCES event_opener_test.cpp ${PROJECT_SOURCE_DIR}/tests/support/temporary_directory.cpp)

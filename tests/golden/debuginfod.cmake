# Debug files from a server on this machine, elfutils' own.
find_program(BOBBIN_DEBUGINFOD NAMES debuginfod REQUIRED)
set(support ${PROJECT_SOURCE_DIR}/tests/support)
bobbin_test(golden_debuginfod LABEL golden
            SOURCES debuginfod_test.cpp debuginfod_servers.cpp ${support}/child_process.cpp
                    ${support}/temporary_directory.cpp
            LIBRARIES bobbin_symbolize)
add_dependencies(golden_debuginfod bobbin_main)
target_compile_definitions(golden_debuginfod PRIVATE BOBBIN_PROGRAM="$<TARGET_FILE:bobbin_main>")

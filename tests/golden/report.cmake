# Answers of `bobbin report` beside those of `go tool pprof`; needs what pprof.cmake finds.
bobbin_test(golden_report LABEL golden
            SOURCES report_test.cpp go_pprof.cpp ${PROJECT_SOURCE_DIR}/tests/support/child_process.cpp
                    ${PROJECT_SOURCE_DIR}/tests/support/temporary_directory.cpp
            LIBRARIES bobbin_report bobbin_output)
add_dependencies(golden_report bobbin_go_pprof)
target_compile_definitions(golden_report PRIVATE BOBBIN_PPROF="${BOBBIN_PPROF}")

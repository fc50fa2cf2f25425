# Profiles of ours, read by the tools of others: `go tool pprof` and `protoc`.
include(${PROJECT_SOURCE_DIR}/tests/support/go_pprof.cmake)

set(support ${PROJECT_SOURCE_DIR}/tests/support)
bobbin_test(golden_pprof LABEL golden
            SOURCES pprof_test.cpp pprof_example.cpp go_pprof.cpp ${support}/child_process.cpp
                    ${support}/temporary_directory.cpp
            LIBRARIES bobbin_base bobbin_profile bobbin_output)
add_dependencies(golden_pprof bobbin_go_pprof)
target_compile_definitions(golden_pprof PRIVATE
  BOBBIN_PPROF="${BOBBIN_PPROF}"
  BOBBIN_PROTOC="$<TARGET_FILE:protobuf::protoc>" BOBBIN_PROTO_DIR="${PROJECT_SOURCE_DIR}/proto")

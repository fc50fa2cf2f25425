# Profiles of ours, read by the tools of others: `go tool pprof` and `protoc`.
find_program(BOBBIN_GO NAMES go PATHS /usr/local/go/bin /usr/lib/go/bin REQUIRED)
set(support ${PROJECT_SOURCE_DIR}/tests/support)
bobbin_test(golden_pprof LABEL golden
            SOURCES pprof_test.cpp pprof_example.cpp ${support}/child_process.cpp
                    ${support}/temporary_directory.cpp
            LIBRARIES bobbin_base bobbin_profile bobbin_output)
# Newer Go builds its tools on first use: where its cache is, they stay built.
target_compile_definitions(golden_pprof PRIVATE
  BOBBIN_GO="${BOBBIN_GO}" BOBBIN_GO_CACHE="${CMAKE_CURRENT_BINARY_DIR}/go-cache"
  BOBBIN_PROTOC="$<TARGET_FILE:protobuf::protoc>" BOBBIN_PROTO_DIR="${PROJECT_SOURCE_DIR}/proto")

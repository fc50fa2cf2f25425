# Profiles of ours, read by the tools of others: `go tool pprof` and `protoc`.
find_program(BOBBIN_GO NAMES go PATHS /usr/local/go/bin /usr/lib/go/bin REQUIRED)

# Newer Go builds its tools on first use, which takes a minute or two: better now than in a test.
set(go_cache ${CMAKE_CURRENT_BINARY_DIR}/go-cache)
add_custom_command(
  OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/pprof-tool
  COMMAND ${CMAKE_COMMAND} -E env HOME=${CMAKE_CURRENT_BINARY_DIR} GOCACHE=${go_cache}
          ${BOBBIN_GO} tool -n pprof > ${CMAKE_CURRENT_BINARY_DIR}/pprof-tool
  COMMENT "Making sure that Go has its pprof" VERBATIM)
add_custom_target(bobbin_go_pprof DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/pprof-tool)

set(support ${PROJECT_SOURCE_DIR}/tests/support)
bobbin_test(golden_pprof LABEL golden
            SOURCES pprof_test.cpp pprof_example.cpp go_pprof.cpp ${support}/child_process.cpp
                    ${support}/temporary_directory.cpp
            LIBRARIES bobbin_base bobbin_profile bobbin_output)
add_dependencies(golden_pprof bobbin_go_pprof)
target_compile_definitions(golden_pprof PRIVATE
  BOBBIN_GO="${BOBBIN_GO}" BOBBIN_GO_CACHE="${go_cache}"
  BOBBIN_PROTOC="$<TARGET_FILE:protobuf::protoc>" BOBBIN_PROTO_DIR="${PROJECT_SOURCE_DIR}/proto")

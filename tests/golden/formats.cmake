# Profiles in the formats of others: what we write, by checkers made from their documentation and by
# protoc; what Go's own profiler writes, read by us and by `go tool pprof`.
set(support ${PROJECT_SOURCE_DIR}/tests/support)
set(go_profile ${CMAKE_CURRENT_BINARY_DIR}/go_profile)
add_custom_command(
  OUTPUT ${go_profile}
  COMMAND ${CMAKE_COMMAND} -E env HOME=${CMAKE_CURRENT_BINARY_DIR} GOCACHE=${BOBBIN_GO_CACHE} GOFLAGS= CGO_ENABLED=0
          ${BOBBIN_GO} build -o ${go_profile} .
  WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/go_profile
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/go_profile/main.go
  JOB_POOL bobbin_go
  COMMENT "A Go program that profiles itself" VERBATIM)
add_custom_target(bobbin_go_profile DEPENDS ${go_profile})

bobbin_test(golden_formats LABEL golden
            SOURCES speedscope_test.cpp speedscope_checker.cpp firefox_test.cpp firefox_checker.cpp
                    perfetto_test.cpp go_profile_test.cpp pprof_example.cpp
                    ${support}/child_process.cpp ${support}/temporary_directory.cpp
                    ${support}/profile_readers.cpp
            LIBRARIES bobbin_base bobbin_profile bobbin_output)
add_dependencies(golden_formats bobbin_go_pprof bobbin_go_profile)
target_compile_definitions(golden_formats PRIVATE
  BOBBIN_PPROF="${BOBBIN_PPROF}" BOBBIN_GO_PROFILE="${go_profile}"
  BOBBIN_PROTOC="$<TARGET_FILE:protobuf::protoc>" BOBBIN_PROTO_DIR="${PROJECT_SOURCE_DIR}/proto")

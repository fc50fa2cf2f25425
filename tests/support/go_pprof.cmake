# `go tool pprof`, the reader of profiles that is not ours, as the program that `go` would start: it asks
# its cache first, four times as long as pprof takes, and newer Go builds its tools on first use, which
# takes a minute or two.
include_guard(GLOBAL)
find_program(BOBBIN_GO NAMES go PATHS /usr/local/go/bin /usr/lib/go/bin REQUIRED)

set(BOBBIN_PPROF ${PROJECT_BINARY_DIR}/tests/go_pprof CACHE INTERNAL "go tool pprof")
add_custom_command(
  OUTPUT ${BOBBIN_PPROF}
  COMMAND ${CMAKE_COMMAND} -E env HOME=${CMAKE_CURRENT_BINARY_DIR} GOCACHE=${BOBBIN_GO_CACHE} GOFLAGS=
          sh -c "cp \"$(\"$1\" tool -n pprof)\" \"$2\"" sh ${BOBBIN_GO} ${BOBBIN_PPROF}
  JOB_POOL bobbin_go
  COMMENT "go tool pprof" VERBATIM)
add_custom_target(bobbin_go_pprof DEPENDS ${BOBBIN_PPROF})

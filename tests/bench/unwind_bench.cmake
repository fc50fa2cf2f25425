# bench_unwind: a step of the walk in user space, beside libunwind's and libdw's on the same stacks.
include(${PROJECT_SOURCE_DIR}/tests/bpf_host/walk_tables.cmake)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
pkg_check_modules(LIBUNWIND REQUIRED IMPORTED_TARGET libunwind-ptrace libunwind-generic)

add_executable(bench_unwind
  unwind_bench.cpp unwind_bench_libunwind.cpp
  ${PROJECT_SOURCE_DIR}/tests/differential/function_starts.cpp
  ${PROJECT_SOURCE_DIR}/tests/differential/libdw_oracle.cpp
  ${PROJECT_SOURCE_DIR}/tests/differential/stopped_thread.cpp)
target_link_libraries(bench_unwind PRIVATE bobbin_walk_tables bobbin_warnings GTest::gtest
                      PkgConfig::LIBDW PkgConfig::LIBUNWIND)
target_compile_definitions(bench_unwind PRIVATE
  BOBBIN_BENCH_SOURCE="${PROJECT_SOURCE_DIR}/tests/fixtures/two_to_one.cpp")

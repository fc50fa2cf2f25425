# Against libdw in one run: over all of /usr and its largest file, or over BOBBIN_BENCH_FILE=path.
find_package(benchmark REQUIRED)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
add_executable(bench_cfi cfi_bench.cpp)
target_link_libraries(bench_cfi PRIVATE bobbin_elf bobbin_cfi bobbin_warnings PkgConfig::LIBDW
                      benchmark::benchmark)

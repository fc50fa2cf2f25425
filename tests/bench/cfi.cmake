# Against libdw on the same file in one run; BOBBIN_BENCH_FILE=path chooses the file.
find_package(benchmark REQUIRED)
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
add_executable(bench_cfi cfi_bench.cpp)
target_link_libraries(bench_cfi PRIVATE bobbin_elf bobbin_cfi bobbin_warnings PkgConfig::LIBDW
                      benchmark::benchmark)

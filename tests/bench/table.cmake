find_package(benchmark REQUIRED)
add_executable(bench_table table_bench.cpp)
target_include_directories(bench_table PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(bench_table PRIVATE bobbin_elf bobbin_cfi bobbin_unwind_table bobbin_warnings
                      benchmark::benchmark)

# One object, addresses by standard input, as llvm-symbolizer does it; see dwarf_bench.cpp.
add_executable(bench_dwarf dwarf_bench.cpp)
target_link_libraries(bench_dwarf PRIVATE bobbin_symbolize bobbin_warnings)

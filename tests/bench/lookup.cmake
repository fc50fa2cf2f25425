# lookup_bench: one look-up in the unwind table inside the kernel, against a page hash with rows of 8
# bytes. Run as root:  build/tests/bench/lookup_bench [FILE...]
bpf_skeleton(lookup FOLDER ${CMAKE_CURRENT_LIST_DIR} FLAGS -I${PROJECT_SOURCE_DIR}/bpf)

add_executable(lookup_bench ${CMAKE_CURRENT_LIST_DIR}/lookup_bench.cpp
                            ${CMAKE_CURRENT_LIST_DIR}/lookup_rows.cpp)
target_link_libraries(lookup_bench PRIVATE bobbin_lookup_skel bobbin_unwind_feed bobbin_sampler
                                           PkgConfig::LIBBPF bobbin_test_support bobbin_warnings)

# table_memory: what the kernel charges for the tables of all of /usr. Run as root.
add_executable(table_memory ${CMAKE_CURRENT_LIST_DIR}/table_memory.cpp)
target_link_libraries(table_memory PRIVATE bobbin_unwind_feed bobbin_sampler PkgConfig::LIBBPF
                                           bobbin_test_support bobbin_warnings)

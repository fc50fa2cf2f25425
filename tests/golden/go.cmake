# Go's own .debug_frame, as libdw reads it, says what its function table has to say of frames; its
# addr2line and its DWARF, as llvm-symbolizer reads it, what it has to say of names.
include(${PROJECT_SOURCE_DIR}/tests/fixtures/fixtures.cmake)
find_program(BOBBIN_LLVM_SYMBOLIZER NAMES llvm-symbolizer-19 REQUIRED)
set(support ${PROJECT_SOURCE_DIR}/tests/support)
bobbin_test(golden_go LABEL golden TIMEOUT 600
            SOURCES go_libdw_test.cpp go_debug_frame.cpp go_program.cpp go_names_test.cpp
                    go_addr2line.cpp dwarf_llvm_frames.cpp ${support}/child_process.cpp
                    ${support}/temporary_directory.cpp
            LIBRARIES bobbin_elf bobbin_cfi bobbin_pclntab bobbin_executable bobbin_symbolize
                      PkgConfig::LIBDW)
target_compile_definitions(golden_go PRIVATE
  BOBBIN_FIXTURES_DIR="${BOBBIN_FIXTURES_DIR}" BOBBIN_GO="${BOBBIN_GO}"
  BOBBIN_LLVM_SYMBOLIZER="${BOBBIN_LLVM_SYMBOLIZER}")
add_dependencies(golden_go bobbin_go_fixtures)

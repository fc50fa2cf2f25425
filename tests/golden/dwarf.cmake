# Frames of programs as compilers and tools write their DWARF, against llvm-symbolizer's.
find_program(BOBBIN_LLVM_SYMBOLIZER NAMES llvm-symbolizer-19 REQUIRED)
find_program(BOBBIN_LLVM_DWP NAMES llvm-dwp-19 REQUIRED)
find_program(BOBBIN_LLVM_OBJCOPY NAMES llvm-objcopy-19 REQUIRED)
find_program(BOBBIN_DWARF_CLANGXX NAMES clang++-19 REQUIRED)
find_program(BOBBIN_DWARF_RUSTC NAMES rustc PATHS $ENV{HOME}/.cargo/bin REQUIRED)
find_program(BOBBIN_DWZ NAMES dwz REQUIRED)

set(support ${PROJECT_SOURCE_DIR}/tests/support)
bobbin_test(golden_dwarf LABEL golden
            SOURCES dwarf_llvm_test.cpp dwarf_llvm_frames.cpp ${support}/child_process.cpp
                    ${support}/temporary_directory.cpp
            LIBRARIES bobbin_symbolize)
target_compile_definitions(golden_dwarf PRIVATE
  BOBBIN_LLVM_SYMBOLIZER="${BOBBIN_LLVM_SYMBOLIZER}" BOBBIN_LLVM_DWP="${BOBBIN_LLVM_DWP}"
  BOBBIN_LLVM_OBJCOPY="${BOBBIN_LLVM_OBJCOPY}" BOBBIN_DWARF_CLANGXX="${BOBBIN_DWARF_CLANGXX}"
  BOBBIN_DWARF_RUSTC="${BOBBIN_DWARF_RUSTC}" BOBBIN_DWZ="${BOBBIN_DWZ}"
  BOBBIN_DWARF_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/dwarf_sources")

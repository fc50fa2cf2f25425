# Debian's builds of LuaJIT, against the debugging information and symbols of the one that has them,
# and against what a program is seen to do instruction by instruction.
find_program(BOBBIN_LUAJIT luajit REQUIRED)
bobbin_test(golden_luajit LABEL golden
            SOURCES luajit_test.cpp luajit_rows_test.cpp luajit_debug_structs.cpp
                    luajit_program.cpp luajit_shadow_stack.cpp
            LIBRARIES bobbin_elf bobbin_cfi bobbin_luajit PkgConfig::LIBDW)
target_compile_definitions(golden_luajit PRIVATE
  BOBBIN_LUAJIT="${BOBBIN_LUAJIT}" BOBBIN_PACKAGES_DIR="${PROJECT_SOURCE_DIR}/build/packages")

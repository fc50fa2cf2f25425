# libdw is an oracle here and nowhere else.
pkg_check_modules(LIBDW REQUIRED IMPORTED_TARGET libdw)
bobbin_test(golden_cfi LABEL golden
            SOURCES cfi_libdw_test.cpp cfi_libdw_rules.cpp cfi_readelf_rows.cpp cfi_readelf_test.cpp
                    cfi_system_binaries.cpp
            LIBRARIES bobbin_elf bobbin_cfi PkgConfig::LIBDW)

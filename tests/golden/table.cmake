bobbin_test(golden_table LABEL golden SOURCES table_invariants_test.cpp
            LIBRARIES bobbin_elf bobbin_cfi bobbin_executable bobbin_unwind_table
                      bobbin_unwind_feed)

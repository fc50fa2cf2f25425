# Real programs under ptrace, and the tables that the unwinder of user_walk needs of them, made by the
# modules that make the kernel's.
include_guard(GLOBAL)

set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(bobbin_walk_tables STATIC
  ${here}/traced_process.cpp ${here}/traced_mappings.cpp ${here}/walk_tables.cpp)
target_include_directories(bobbin_walk_tables PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(bobbin_walk_tables
  PUBLIC bobbin_abi bobbin_base bobbin_elf bobbin_unwind_table bobbin_executable bobbin_unwind_feed
         bobbin_user_walk
  PRIVATE bobbin_warnings GTest::gtest)

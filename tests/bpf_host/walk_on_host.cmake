# The unwinder of bpf/ as a user-space walker, with tables made by the modules that make the kernel's.
include_guard(GLOBAL)

set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(bobbin_walk_on_host STATIC ${here}/walk_on_host.c ${here}/traced_process.cpp
                                       ${here}/traced_mappings.cpp ${here}/walk_tables.cpp)
target_include_directories(bobbin_walk_on_host BEFORE PRIVATE ${here}/include)
target_include_directories(bobbin_walk_on_host PUBLIC ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(bobbin_walk_on_host
  PUBLIC bobbin_abi bobbin_base bobbin_elf bobbin_unwind_table bobbin_executable bobbin_unwind_feed
  PRIVATE GTest::gtest)
target_compile_options(bobbin_walk_on_host PRIVATE
  $<$<COMPILE_LANGUAGE:C>:-std=gnu11 -O3 -Wall -Wextra -Wno-unused-parameter -Wno-unknown-pragmas
  -Wno-missing-field-initializers>)

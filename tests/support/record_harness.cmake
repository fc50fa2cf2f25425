# What tests that run the real program share: processes, profile readers, expected stacks.
include_guard(GLOBAL)
include(${CMAKE_CURRENT_LIST_DIR}/../fixtures/fixtures.cmake)

include(${CMAKE_CURRENT_LIST_DIR}/go_pprof.cmake)

set(here ${CMAKE_CURRENT_LIST_DIR})
add_library(bobbin_record_harness STATIC
  ${here}/child_process.cpp ${here}/damaged_elf.cpp ${here}/expected_stacks.cpp
  ${here}/profile_readers.cpp ${here}/record_run.cpp ${here}/stacks.cpp ${here}/temporary_directory.cpp)
target_link_libraries(bobbin_record_harness PUBLIC bobbin_base bobbin_abi bobbin_test_support
                      PRIVATE bobbin_warnings)
target_compile_definitions(bobbin_record_harness PRIVATE
  BOBBIN_PROGRAM="$<TARGET_FILE:bobbin_main>" BOBBIN_FIXTURES_DIR="${BOBBIN_FIXTURES_DIR}"
  BOBBIN_PPROF="${BOBBIN_PPROF}")
add_dependencies(bobbin_record_harness bobbin_go_pprof)

# bobbin_record_test(name LABEL kernel SOURCES a_test.cpp [TIMEOUT s]): a bobbin_test that finds
# program and fixtures built.
function(bobbin_record_test name)
  bobbin_test(${name} SERIAL LIBRARIES bobbin_record_harness ${ARGN})
  add_dependencies(${name} bobbin_main bobbin_fixtures)
endfunction()

# Go's own .debug_frame, as libdw reads it, says what its function table has to say.
include(${PROJECT_SOURCE_DIR}/tests/fixtures/fixtures.cmake)
bobbin_test(golden_go LABEL golden TIMEOUT 600
            SOURCES go_libdw_test.cpp go_debug_frame.cpp go_program.cpp
            LIBRARIES bobbin_elf bobbin_cfi bobbin_pclntab bobbin_executable PkgConfig::LIBDW)
target_compile_definitions(golden_go PRIVATE BOBBIN_FIXTURES_DIR="${BOBBIN_FIXTURES_DIR}")
add_dependencies(golden_go bobbin_go_fixtures)

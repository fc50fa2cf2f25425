# Names of generated code: from perf maps and jitdumps, of a program that writes them itself, of
# node and of a JVM.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)
include(${PROJECT_SOURCE_DIR}/tests/fixtures/generated_names.cmake)
find_program(BOBBIN_NODE NAMES node nodejs REQUIRED)
find_program(BOBBIN_JAVA NAMES java REQUIRED)

bobbin_record_test(kernel_generated_names LABEL kernel TIMEOUT 600
                   SOURCES generated_names_test.cpp runtimes_names_test.cpp sampled_fixture.cpp)
target_compile_definitions(kernel_generated_names PRIVATE
  BOBBIN_NODE="${BOBBIN_NODE}" BOBBIN_JAVA="${BOBBIN_JAVA}"
  BOBBIN_SCRIPTS_DIR="${BOBBIN_FIXTURES_SOURCE_DIR}")
add_dependencies(kernel_generated_names bobbin_generated_names_fixtures)

# Names of programs: how they are written, what is inlined, debug files from servers.
find_program(BOBBIN_DEBUGINFOD NAMES debuginfod REQUIRED)
bobbin_record_test(kernel_program_names LABEL kernel TIMEOUT 600
                   SOURCES program_names_test.cpp ../golden/debuginfod_servers.cpp
                   sampled_fixture.cpp)

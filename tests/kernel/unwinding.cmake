# The whole program against what unwinders get wrong: signals, coroutines, rare rules, no CFI.
include(${PROJECT_SOURCE_DIR}/tests/support/record_harness.cmake)

bobbin_record_test(kernel_unwinding LABEL kernel TIMEOUT 600
                   SOURCES compilers_test.cpp kernel_threads_test.cpp known_stacks.cpp
                           no_cfi_test.cpp rare_rules_test.cpp runtimes_test.cpp
                           sampled_fixture.cpp signals_test.cpp stack_limits_test.cpp)

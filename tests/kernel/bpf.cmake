# The BPF object by itself: every program loads, is far from the verifier's limit, and finds mappings.
bobbin_test(kernel_bpf LABEL kernel SERIAL TIMEOUT 300
            SOURCES bpf_programs_test.cpp paused_walk_test.cpp
            LIBRARIES bobbin_sampler PkgConfig::LIBBPF)

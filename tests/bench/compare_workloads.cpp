// SPDX-License-Identifier: Apache-2.0
#include "bench/compare_workloads.h"

#include <fmt/format.h>

#include "kernel/known_stacks.h"

namespace bobbin::bench {
namespace {

using test::below_main;
using test::ExpectedStack;
using test::is_exactly;
using test::leaf_is;
using test::leaf_is_in;
using test::named;
using test::unnamed_in;

Program chain_in(const std::string& name, const std::string& compiler, const std::string& fixture,
                 const ExpectedStack& outer = below_main()) {
    return {fixture, compiler, {{name, leaf_is_in({fixture}), test::is_the_chain_above(outer)}}};
}

void add_chains(const std::string& compiler, std::vector<Program>& programs) {
    const std::string chain = "known_chain." + compiler;
    for (const char* variant : {"pie", "no_pie", "static", "static_pie", "O3", "Os", "lto"})
        programs.push_back(chain_in(fmt::format("25 frames, {}", variant), compiler,
                                    fmt::format("{}.{}", chain, variant)));
    programs.push_back(chain_in("25 frames, no CFI, frame pointers", compiler, chain + ".no_cfi"));
    programs.push_back(
        chain_in("stack realignment", compiler, "realigned_chain." + compiler + ".pie"));
    programs.push_back(chain_in("four threads", compiler,
                                "known_chain_threads." + compiler + ".pie",
                                ExpectedStack{named("run_chain")} + test::below_thread_function()));
}

Program vdso(const std::string& compiler) {
    const auto is_exact = [](const test::Stack& stack) {
        std::vector<test::Frame> frames = stack.user_frames();
        test::cut_leaf_frames_in(frames, "[vdso]");
        if (!test::cut_leaf_frames_in(frames, "libc.so.6")) return false;
        // main asks for the time, too: for its deadline.
        return matches(frames, below_main()) ||
               matches(frames, ExpectedStack{named("read_clock_often")} + below_main());
    };
    return {"vdso_clock." + compiler + ".pie",
            compiler,
            {{"clock in the vdso", leaf_is_in({"[vdso]"}), is_exact}}};
}

Program plt(const std::string& compiler) {
    const std::string fixture = "plt_caller." + compiler + ".pie";
    const auto is_exact = [fixture](const test::Stack& stack) {
        std::vector<test::Frame> frames = stack.user_frames();
        // "_init" is what perf calls a PLT stub.
        if (matches(frames.front(),
                    {{"burn_in_callback", "library_add", "library_add@plt", "_init"}, fixture}))
            frames.erase(frames.begin());
        return matches(frames, ExpectedStack{named("called_back"), named("library_call_back"),
                                             named("call_through_plt")} +
                                   below_main());
    };
    const std::vector<std::string> own{fixture, "plt_library." + compiler + ".so"};
    return {fixture, compiler, {{"PLT, both sides of a library", leaf_is_in(own), is_exact}}};
}

Program signals(const std::string& compiler) {
    const auto on_signal_frame = [](const std::string& handler, const ExpectedStack& interrupted) {
        return is_exactly(test::handler_on_signal_frame(handler) + interrupted + below_main());
    };
    return {"signals." + compiler + ".pie",
            compiler,
            {{"signal handler, raised", leaf_is("handle_raised"),
              on_signal_frame("handle_raised", {{{"kill", "__kill", "__GI___kill"}, "libc.so.6"},
                                                named("raise_often")})},
             {"signal handler, fault", leaf_is("handle_fault"),
              on_signal_frame("handle_fault", {named("load_at_entry"), named("touch_bad_page")})},
             {"signal handler, timer in prologues, own stack", leaf_is("handle_timer"),
              test::is_timer_in_tiny_functions}}};
}

Program generated(const std::string& compiler) {
    const ExpectedStack below =
        ExpectedStack{unnamed_in("[anon]"), named("call_generated")} + below_main();
    return {"generated_code." + compiler + ".pie",
            compiler,
            {{"C below generated code", leaf_is("burn_in_callback"),
              is_exactly(ExpectedStack{named("burn_in_callback"), named("called_back")} + below)}}};
}

Program leaf_rules(const std::string& compiler) {
    Program program{"leaf_rules." + compiler + ".pie", compiler, {}};
    for (const char* function : {"cfa_from_r10", "cfa_from_rax", "cfa_in_memory", "cfa_far_away",
                                 "caller_in_rdi", "rbp_far_from_cfa"})
        program.workloads.push_back(
            {fmt::format("rule: {}", function), leaf_is(function),
             is_exactly(ExpectedStack{named(function), named("burn_by_rule")} + below_main())});
    return program;
}

void add_others(const std::string& compiler, std::vector<Program>& programs) {
    const auto pie = [&](const char* name) { return fmt::format("{}.{}.pie", name, compiler); };
    programs.push_back(plt(compiler));
    programs.push_back(vdso(compiler));
    programs.push_back({pie("deep_stack"),
                        compiler,
                        {{"600 frames deep", leaf_is("descend"),
                          is_exactly(ExpectedStack(600, named("descend")) + below_main())}}});
    programs.push_back(signals(compiler));
    programs.push_back({pie("coroutines"),
                        compiler,
                        {{"coroutines", leaf_is("burn_in_coroutine"),
                          is_exactly({named("burn_in_coroutine"),
                                      named("coroutine_entry"),
                                      {{"__start_context"}, "libc.so.6"}})}}});
    programs.push_back({pie("exceptions"),
                        compiler,
                        {{"exceptions in flight",
                          leaf_is_in({"libgcc_s.so.1", "libstdc++.so.6.0.30", pie("exceptions")}),
                          test::is_above_catch_thrown}}});
    programs.push_back({pie("no_cfi_mixed"),
                        compiler,
                        {{"CFI and frame pointers by turns", leaf_is("plain_leaf"),
                          is_exactly(ExpectedStack{named("plain_leaf"), named("with_cfi_inner"),
                                                   named("plain_middle"), named("plain_outer"),
                                                   named("with_cfi_outer")} +
                                     below_main())}}});
    programs.push_back(generated(compiler));
    programs.push_back(leaf_rules(compiler));
}

}  // namespace

std::vector<Program> programs_to_compare() {
    std::vector<Program> programs;
    for (const char* compiler : {"gcc", "clang"}) {
        add_chains(compiler, programs);
        add_others(compiler, programs);
    }
    programs.push_back({"known_chain_rust",
                        "rustc",
                        {{"Rust, panics caught", leaf_is_in({"known_chain_rust", "libgcc_s.so.1"}),
                          test::is_rust_chain}}});
    return programs;
}

}  // namespace bobbin::bench

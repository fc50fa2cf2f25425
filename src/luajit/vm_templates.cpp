// SPDX-License-Identifier: Apache-2.0
#include "luajit/vm_templates.h"

// The VM is assembled by hand (DynASM), so which instructions it has and how they are encoded is
// the same whatever the C compiler; displacements and a few instructions differ by build. Source:
// LuaJIT 2.1, vm_x64.dasc (with LJ_GC64) and vm_x86.dasc (without); [] in comments are their names.
// Registers: rdx BASE, rbx PC, r14 DISPATCH, r15 KBASE, rbp RB, rcx RA, rax RD.

namespace bobbin::luajit {
namespace {

constexpr Instruction kVmCallCode[] = {
    {"@call 55"},                                               // push rbp
    {"53"},                                                     // push rbx
    {"41 57"},                                                  // push r15
    {"41 56"},                                                  // push r14
    {"six 41 55"},                                              // push r13
    {"six 41 54"},                                              // push r12
    {"48 83 ec frame_space:1"},                                 // sub rsp, CFRAME_SPACE
    {"bb 01 00 00 00"},                                         // mov ebx, FRAME_C
    {"89 54 24 cframe_results:1"},                              // mov [SAVE_NRES], edx
    {"48 89 fd", "89 fd"},                                      // mov rbp, rdi
    {"48 89 7c 24 cframe_state:1", "89 7c 24 cframe_state:1"},  // mov [SAVE_L], rdi
    {"48 89 f1", "89 f1"},                                      // mov rcx, rsi
    {"4c 8b 75 state_global:1", "44 8b 75 state_global:1"},     // mov r14, [L.glref]
    {"4c 8b 7d state_cframe:1"},                                // mov r15, [L.cframe]
    {"4c 89 7c 24 cframe_previous:1"},                          // mov [SAVE_CFRAME], r15
    {"48 89 6c 24 cframe_pc:1", "89 6c 24 cframe_pc:1"},        // mov [SAVE_PC], rbp
    {"49 81 c6 dispatch:4", "41 81 c6 dispatch:4"},             // add r14, GG_G2DISP
    {"? 45 8b 96 vm_state:4", "? 45 8b 9e vm_state:4"},         // mov r10d, [vmstate] (Tarantool)
    {"? 44 89 54 24 ..", "? 44 89 5c 24 .."},                   // mov [SAVE_VMSTATE], r10d
    {"48 89 65 state_cframe:1"},                                // mov [L.cframe], rsp
    {"@call_linked 49 89 ae current_state:4", "@call_linked 41 89 ae current_state:4"},
    {"41 c7 86 vm_state:4 ff ff ff ff"},              // mov dword [vmstate], ~INTERP
    {"48 8b 55 state_base:1", "8b 55 state_base:1"},  // mov rdx, [L.base]
    {"48 01 cb", "01 cb"},                            // add rbx, rcx
    {"48 29 d3", "29 d3"},                            // sub rbx, rdx
    {"48 8b 45 state_top:1", "8b 45 state_top:1"},    // mov rax, [L.top]
    {"48 29 c8", "29 c8"},                            // sub rax, rcx
    {"c1 e8 03"},                                     // shr eax, 3
    {"83 c0 01"},                                     // add eax, 1
};

// BC_ISLT, the first of the handlers; BC_ISGE, ISLE and ISGT begin alike.
constexpr Instruction kFirstHandlerCode[] = {
    {"? f3 0f 1e fa"},
    {"4c 8b 1c ca",
     "81 7c ca 04 ff ff fe ff"},              // mov r11, [BASE+RA*8]; cmp dword [..+4], LJ_TISNUM
    {"48 8b 2c c2", "0f 83 .. .. .. .."},     // mov rbp, [BASE+RD*8]; jae ->vmeta_comp
    {"4c 89 d9", "81 7c c2 04 ff ff fe ff"},  // mov rcx, r11
    {"48 89 e8", "0f 83 .. .. .. .."},        // mov rax, rbp
    {"49 c1 fb 2f", "-"},                     // sar r11, 47
    {"48 c1 fd 2f", "-"},                     // sar rbp, 47
};

constexpr Instruction kTraceEntry[] = {
    // BC_JLOOP
    {"49 8b 8e jit_traces:4", "41 8b 8e jit_traces:4"},         // mov rcx, [J.trace]
    {"48 8b 04 c1", "8b 04 81"},                                // mov rax, [rcx+rax*8]
    {"48 8b 40 trace_machine_code:1"},                          // mov rax, [GCtrace.mcode]
    {"48 8b 6c 24 cframe_state:1", "8b 6c 24 cframe_state:1"},  // mov rbp, [SAVE_L]
    {"49 89 96 jit_base:4", "41 89 96 jit_base:4"},             // mov [jit_base], rdx
    {"49 89 ae .. .. .. ..", "41 89 ae .. .. .. .."},           // mov [tmpbuf.L], rbp
    {"-", "4c 89 24 24"},                                       // mov [rsp], r12
    {"-", "4c 89 6c 24 08"},                                    // mov [rsp+8], r13
    {"48 83 ec 10"},                                            // sub rsp, 16
    {"@trace_entry_lowered"},                                   //
    {"4c 89 64 24 10", "-"},                                    // mov [rsp+16], r12
    {"4c 89 6c 24 08", "-"},                                    // mov [rsp+8], r13
    {"ff e0"},                                                  // jmp rax
    {"@trace_entry_end"},
};

constexpr Instruction kFuncF[] = {
    // BC_IFUNCF, BC_JFUNCF
    {"4c 8b 7b prototype_constants:1", "44 8b 7b prototype_constants:1"},  // mov r15, [rbx-4+k]
    {"48 8b 6c 24 cframe_state:1", "8b 6c 24 cframe_state:1"},             // mov rbp, [SAVE_L]
    {"48 8d 0c ca", "8d 0c ca"},                                           // lea rcx, [rdx+rcx*8]
    {"48 3b 4d state_max_stack:1", "3b 4d state_max_stack:1"},             // cmp rcx, [L.maxstack]
    {"0f 87 .. .. .. .."},                                                 // ja ->vm_growstack_f
};

constexpr Instruction kFuncC[] = {
    // BC_FUNCC, BC_FUNCCW
    {"48 8b 6a f0", "8b 6a f8"},                                // mov rbp, [BASE-16]
    {"48 c1 e5 11", "-"},                                       // shl rbp, 17
    {"48 c1 ed 11", "-"},                                       // shr rbp, 17
    {"4c 8b 7d function_c:1"},                                  // mov r15, [GCfuncC.f]
    {"48 8b 6c 24 cframe_state:1", "8b 6c 24 cframe_state:1"},  // mov rbp, [SAVE_L]
    {"48 8d 44 c2 f8", "8d 44 c2 f8"},                          // lea rax, [rdx+rax*8-8]
    {"48 89 55 state_base:1", "89 55 state_base:1"},            // mov [L.base], rdx
    {"48 8d 88 a0 00 00 00", "8d 88 a0 00 00 00"},              // lea rcx, [rax+8*LUA_MINSTACK]
    {"48 3b 4d state_max_stack:1", "3b 4d state_max_stack:1"},  // cmp rcx, [L.maxstack]
    {"48 89 45 state_top:1", "89 45 state_top:1"},              // mov [L.top], rax
};

constexpr Instruction kLeave[] = {
    // vm_leave_cp, vm_leave_unw
    {"48 8b 4c 24 cframe_previous:1"},                       // mov rcx, [SAVE_CFRAME]
    {"48 89 4d state_cframe:1"},                             // mov [L.cframe], rcx
    {"@unlinked 31 c0"},                                     // xor eax, eax
    {"? 41 c7 86 vm_state:4 ff ff ff ff"},                   // mov dword [vmstate], ~INTERP
    {"? 4c 8b 54 24 cframe_state:1", "? 44 8b 5c 24 .."},    // mov r10, [SAVE_L]
    {"? 4d 8b 52 state_base:1", "? 45 8b 5b state_base:1"},  // mov r10, [L.base]
    {"? 4d 89 96 .. .. .. ..", "? 4d 89 9e .. .. .. .."},    // mov [top_frame], r10
    {"? 44 8b 54 24 ..", "? 44 8b 5c 24 .."},                // mov r10d, [SAVE_VMSTATE]
    {"? 45 89 96 vm_state:4", "? 45 89 9e vm_state:4"},      // mov [vmstate], r10d
    {"@leave 48 83 c4 frame_space:1"},                       // add rsp, CFRAME_SPACE
    {"six 41 5c"},                                           // pop r12
    {"six 41 5d"},                                           // pop r13
    {"41 5e"},                                               // pop r14
    {"41 5f"},                                               // pop r15
    {"5b"},                                                  // pop rbx
    {"5d"},                                                  // pop rbp
    {"c3"},                                                  // ret
};

constexpr Instruction kUnwindC[] = {
    // vm_unwind_yield, vm_unwind_c
    {"b0 01"},  // mov al, LUA_YIELD
    {"eb .."},  // jmp ->vm_unwind_c_eh
    {"@unwind_c"},
    {"? f3 0f 1e fa"},  // endbr64
    {"89 f0"},          // mov eax, esi
    {"48 89 fc"},       // mov rsp, rdi
    {"@unwind_c_landed"},
};

constexpr Instruction kRethrow[] = {
    // vm_unwind_rethrow
    {"48 8b 7c 24 cframe_state:1", "8b 7c 24 cframe_state:1"},  // mov rdi, [SAVE_L]
    {"89 c6"},                                                  // mov esi, eax
    {"@rethrow 48 83 c4 frame_space:1"},                        // add rsp, CFRAME_SPACE
    {"six 41 5c"},                                              // pop r12
    {"six 41 5d"},                                              // pop r13
    {"41 5e"},                                                  // pop r14
    {"41 5f"},                                                  // pop r15
    {"5b"},                                                     // pop rbx
    {"5d"},                                                     // pop rbp
    {"e9 .. .. .. .."},                                         // jmp lj_err_throw
};

constexpr Instruction kUnwindFf[] = {
    // vm_unwind_ff
    {"@unwind_ff"},
    {"? f3 0f 1e fa"},                                          // endbr64
    {"48 83 e7 fc"},                                            // and rdi, CFRAME_RAWMASK
    {"48 89 fc"},                                               // mov rsp, rdi
    {"@unwind_ff_landed"},                                      //
    {"? f3 0f 1e fa"},                                          // endbr64
    {"48 8b 6c 24 cframe_state:1", "8b 6c 24 cframe_state:1"},  // mov rbp, [SAVE_L]
};

constexpr Instruction kResume[] = {
    {"@resume 55"},                                             // push rbp
    {"53"},                                                     // push rbx
    {"41 57"},                                                  // push r15
    {"41 56"},                                                  // push r14
    {"six 41 55"},                                              // push r13
    {"six 41 54"},                                              // push r12
    {"48 83 ec frame_space:1"},                                 // sub rsp, CFRAME_SPACE
    {"48 89 fd", "89 fd"},                                      // mov rbp, rdi
    {"48 89 7c 24 cframe_state:1", "89 7c 24 cframe_state:1"},  // mov [SAVE_L], rdi
    {"48 89 f1", "89 f1"},                                      // mov rcx, rsi
    {"bb 05 00 00 00"},                                         // mov ebx, FRAME_CP
    {"31 c0"},                                                  // xor eax, eax
    {"4c 8d 7c 24 01"},                                         // lea r15, [rsp+CFRAME_RESUME]
    {"4c 8b 75 state_global:1", "44 8b 75 state_global:1"},     // mov r14, [L.glref]
    {"49 81 c6 dispatch:4", "41 81 c6 dispatch:4"},             // add r14, GG_G2DISP
    {"? 45 8b 96 vm_state:4", "? 45 8b 9e vm_state:4"},         // mov r10d, [vmstate] (Tarantool)
    {"? 44 89 54 24 ..", "? 44 89 5c 24 .."},                   // mov [SAVE_VMSTATE], r10d
    {"48 89 44 24 cframe_pc:1", "89 44 24 cframe_pc:1"},        // mov [SAVE_PC], rax
    {"48 89 44 24 cframe_previous:1"},                          // mov [SAVE_CFRAME], rax
    {"89 44 24 cframe_results:1"},                              // mov [SAVE_NRES], eax
    {"89 44 24 cframe_error_function:1"},                       // mov [SAVE_ERRF], eax
    {"4c 89 7d state_cframe:1"},                                // mov [L.cframe], r15
    {"@resume_linked 38 45 state_status:1"},                    // cmp [L.status], al
};

constexpr Instruction kPcall[] = {
    {"@pcall 55"},                         // push rbp
    {"53"},                                // push rbx
    {"41 57"},                             // push r15
    {"41 56"},                             // push r14
    {"six 41 55"},                         // push r13
    {"six 41 54"},                         // push r12
    {"48 83 ec frame_space:1"},            // sub rsp, CFRAME_SPACE
    {"bb 05 00 00 00"},                    // mov ebx, FRAME_CP
    {"89 4c 24 cframe_error_function:1"},  // mov [SAVE_ERRF], ecx
    {"eb .."},                             // jmp, into lj_vm_call
};

constexpr Instruction kCallDispatch[] = {
    // vm_call_dispatch_f, and other copies of ins_call
    {"48 89 ca", "89 ca"},                              // mov rdx, rcx
    {"48 89 5a f8", "89 5a fc"},                        // mov [BASE-8], rbx
    {"48 8b 5d function_pc:1", "8b 5d function_pc:1"},  // mov rbx, [GCfunc.pc]
    {"8b 0b"},                                          // mov ecx, [rbx]
    {"0f b6 e9"},                                       // movzx ebp, cl
    {"0f b6 cd"},                                       // movzx ecx, ch
    {"48 83 c3 04", "83 c3 04"},                        // add rbx, 4
    {"41 ff 24 ee"},                                    // jmp [r14+rbp*8]
};

constexpr Instruction kCpcall[] = {
    {"@cpcall 55"},                                             // push rbp
    {"53"},                                                     // push rbx
    {"41 57"},                                                  // push r15
    {"41 56"},                                                  // push r14
    {"six 41 55"},                                              // push r13
    {"six 41 54"},                                              // push r12
    {"48 83 ec frame_space:1"},                                 // sub rsp, CFRAME_SPACE
    {"48 89 fd", "89 fd"},                                      // mov rbp, rdi
    {"48 89 7c 24 cframe_state:1", "89 7c 24 cframe_state:1"},  // mov [SAVE_L], rdi
    {"48 89 6c 24 cframe_pc:1", "89 6c 24 cframe_pc:1"},        // mov [SAVE_PC], rbp
    {"4c 8b 7d state_stack:1", "44 8b 7d state_stack:1"},       // mov r15, [L.stack]
    {"4c 2b 7d state_top:1", "44 2b 7d state_top:1"},           // sub r15, [L.top]
    {"4c 8b 75 state_global:1", "44 8b 75 state_global:1"},     // mov r14, [L.glref]
    {"c7 44 24 cframe_error_function:1 00 00 00 00"},           // mov dword [SAVE_ERRF], 0
    {"44 89 7c 24 cframe_results:1"},                           // mov [SAVE_NRES], r15d
    {"49 81 c6 dispatch:4", "41 81 c6 dispatch:4"},             // add r14, GG_G2DISP
    {"? 45 8b 96 vm_state:4", "? 45 8b 9e vm_state:4"},         // mov r10d, [vmstate] (Tarantool)
    {"? 44 89 54 24 ..", "? 44 89 5c 24 .."},                   // mov [SAVE_VMSTATE], r10d
    {"4c 8b 7d state_cframe:1"},                                // mov r15, [L.cframe]
    {"4c 89 7c 24 cframe_previous:1"},                          // mov [SAVE_CFRAME], r15
    {"48 89 65 state_cframe:1"},                                // mov [L.cframe], rsp
    {"@cpcall_linked 49 89 ae current_state:4", "@cpcall_linked 41 89 ae current_state:4"},
    {"ff d1"},  // call rcx
};

constexpr Instruction kGcStep[] = {
    // fff_gcstep
    {"@gc_step 5d"},                                            // pop rbp
    {"48 89 2c 24", "48 89 6c 24 08"},                          // mov [TMP1], rbp
    {"48 8b 6c 24 cframe_state:1", "8b 6c 24 cframe_state:1"},  // mov rbp, [SAVE_L]
    {"48 89 5c 24 cframe_pc:1", "89 5c 24 cframe_pc:1"},        // mov [SAVE_PC], rbx
    {"48 89 55 state_base:1", "89 55 state_base:1"},            // mov [L.base], rdx
    {"48 8d 44 c2 f8", "8d 44 c2 f8"},                          // lea rax, [rdx+rax*8-8]
    {"48 89 ef", "89 ef"},                                      // mov rdi, rbp
    {"48 89 45 state_top:1", "89 45 state_top:1"},              // mov [L.top], rax
    {"e8 .. .. .. .."},                                         // call lj_gc_step
    {"48 8b 55 state_base:1", "8b 55 state_base:1"},            // mov rdx, [L.base]
    {"48 8b 45 state_top:1", "8b 45 state_top:1"},              // mov rax, [L.top]
    {"48 29 d0", "29 d0"},                                      // sub rax, rdx
    {"c1 e8 03"},                                               // shr eax, 3
    {"83 c0 01"},                                               // add eax, 1
    {"48 8b 2c 24", "48 8b 6c 24 08"},                          // mov rbp, [TMP1]
    {"@gc_step_return 55"},                                     // push rbp
    {"c3"},                                                     // ret
    {"@gc_step_end"},
};

constexpr Instruction kExit[] = {
    // vm_exit_handler, vm_exit_interp
    {"@exit_handler"},
    {"? f3 0f 1e fa"},                        // endbr64
    {"41 55"},                                // push r13
    {"41 54"},                                // push r12
    {"41 53 41 52"},                          // push r11; push r10
    {"41 51 41 50"},                          // push r9; push r8
    {"57 56"},                                // push rdi; push rsi
    {"55"},                                   // push rbp
    {"48 8d 6c 24 58"},                       // lea rbp, [rsp+88]
    {"55"},                                   // push rbp
    {"53"},                                   // push rbx
    {"52 51"},                                // push rdx; push rcx
    {"50"},                                   // push rax
    {"0f b6 45 f8 8a 65 f0"},                 // movzx eax, byte [rbp-8]; mov ah, [rbp-16]
    {"4c 89 7d f8 4c 89 75 f0"},              // mov [rbp-8], r15; mov [rbp-16], r14
    {"? 4c 8b 75 00", "44 8b 75 00"},         // mov r14d, [rbp]
    {"41 8b 8e vm_state:4"},                  // mov ecx, [vmstate]
    {"41 c7 86 vm_state:4 exit_vm_state:4"},  // mov dword [vmstate], ~EXIT
    {"41 89 86 jit_exit_number:4"},           // mov [J.exitno], eax
    {"41 89 8e jit_parent_trace:4"},          // mov [J.parent], ecx
    {"48 81 ec 80 00 00 00 48 83 c5 80"},     // sub rsp, 16*8; add rbp, -128
    {"f2 44 0f 11 7d f8 f2 44 0f 11 75 f0"},  // movsd [rbp-8], xmm15; xmm14
    {"f2 44 0f 11 6d e8 f2 44 0f 11 65 e0"},  // movsd [rbp-24], xmm13; xmm12
    {"f2 44 0f 11 5d d8 f2 44 0f 11 55 d0"},  // movsd [rbp-40], xmm11; xmm10
    {"f2 44 0f 11 4d c8 f2 44 0f 11 45 c0"},  // movsd [rbp-56], xmm9; xmm8
    {"f2 0f 11 7d b8 f2 0f 11 75 b0"},        // movsd [rbp-72], xmm7; xmm6
    {"f2 0f 11 6d a8 f2 0f 11 65 a0"},        // movsd [rbp-88], xmm5; xmm4
    {"f2 0f 11 5d 98 f2 0f 11 55 90"},        // movsd [rbp-104], xmm3; xmm2
    {"f2 0f 11 4d 88 f2 0f 11 45 80"},        // movsd [rbp-120], xmm1; xmm0
    {"49 8b ae current_state:4", "41 8b ae current_state:4"},                // mov rbp, [cur_L]
    {"49 8b 96 jit_base:4", "41 8b 96 jit_base:4"},                          // mov rdx, [jit_base]
    {"49 89 ae .. .. .. .."},                                                // mov [J.L], rbp
    {"48 89 55 state_base:1", "89 55 state_base:1"},                         // mov [L.base], rdx
    {"48 89 e6"},                                                            // mov rsi, rsp
    {"49 8d be jit_state:4", "41 8d be jit_state:4"},                        // lea rdi, [J]
    {"49 c7 86 jit_base:4 00 00 00 00", "41 c7 86 jit_base:4 00 00 00 00"},  // mov [jit_base], 0
    {"e8 trace_exit_call:4"},                                                // call lj_trace_exit
    {"@trace_exit_return 48 8b 4d state_cframe:1"},                          // mov rcx, [L.cframe]
    {"48 83 e1 fc"},                                      // and rcx, CFRAME_RAWMASK
    {"@exit_in_rcx"},                                     //
    {"-", "48 89 cc"},                                    // mov rsp, rcx
    {"-", "@exit_landed"},                                //
    {"48 89 69 cframe_state:1", "89 69 cframe_state:1"},  // mov [rcx+SAVE_L], rbp
    {"48 8b 55 state_base:1", "8b 55 state_base:1"},      // mov rdx, [L.base]
    {"48 8b 59 cframe_pc:1", "8b 59 cframe_pc:1"},        // mov rbx, [rcx+SAVE_PC]
    {"eb .."},                                            // jmp, behind the next
    {"@exit_landed", "-"},                                //
    {"@exit_interp"},                                     //
    {"? f3 0f 1e fa"},                                    // endbr64
    {"48 8d 4c 24 10", "48 83 c4 10"},                    // lea rcx, [rsp+16]; add rsp, 16
    {"@exit_joined"},                                     //
    {"-", "@exit_done"},                                  //
    {"4c 8b 69 f8", "4c 8b 6c 24 08"},                    // mov r13, [rcx-8]
    {"4c 8b 21", "4c 8b 24 24"},                          // mov r12, [rcx]
    {"48 89 cc", "-"},                                    // mov rsp, rcx
    {"@exit_done", "-"},
};

constexpr Instruction kHelpers[] = {
    // vm_floor, the first
    {"@helpers_begin"},
    {"? f3 0f 1e fa"},                                 // endbr64
    {"48 b8 ff ff ff ff ff ff ff 7f"},                 // mov rax, 0x7fffffffffffffff
    {"66 48 0f 6e d0 48 b8 00 00 00 00 00 00 30 43"},  // movq xmm2, rax; mov rax, 2^52
    {"66 48 0f 6e d8"},                                // movq xmm3, rax
    {"0f 28 c8"},                                      // movaps xmm1, xmm0
};

constexpr Instruction kCpuid[] = {
    // vm_cpuid, one of the last
    {"89 f8"},              // mov eax, edi
    {"@cpuid_push 53"},     // push rbx
    {"31 c9 0f a2"},        // xor ecx, ecx; cpuid
    {"89 06"},              // mov [rsi], eax
    {"89 5e 04 89 4e 08"},  // mov [rsi+4], ebx; mov [rsi+8], ecx
    {"89 56 0c"},           // mov [rsi+12], edx
    {"@cpuid_pop 5b"},      // pop rbx
    {"c3"},                 // ret
};

constexpr Instruction kCallback[] = {
    // vm_ffi_callback
    {"@callback 53"},                                // push rbx
    {"41 57"},                                       // push r15
    {"41 56"},                                       // push r14
    {"six 41 55"},                                   // push r13
    {"six 41 54"},                                   // push r12
    {"48 83 ec frame_space:1"},                      // sub rsp, CFRAME_SPACE
    {"4c 8d b5 dispatch:4", "44 8d b5 dispatch:4"},  // lea r14, [rbp+GG_G2DISP]
};

constexpr Instruction kFfiCall[] = {
    // vm_ffi_call
    {"@ffi_call 55"},  // push rbp
    {"48 89 e5"},      // mov rbp, rsp
    {"53"},            // push rbx
    {"48 89 fb"},      // mov rbx, rdi
    {"8b 43 08"},      // mov eax, [CCallState.spadj]
    {"48 29 c4"},      // sub rsp, rax
};

constexpr Instruction kFfiCallEnd[] = {
    {"ff 13"},                 // call [CCallState.func]
    {"48 89 83 .. 00 00 00"},  // mov [CCallState.gpr], rax
    {"0f 29 43 .."},           // movaps [CCallState.fpr], xmm0
    {"48 89 93 .. 00 00 00"},  // mov [CCallState.gpr+8], rdx
    {"0f 29 4b .."},           // movaps [CCallState.fpr+16], xmm1
    {"48 8b 5d f8"},           // mov rbx, [rbp-8]
    {"@ffi_call_leave c9"},    // leave
    {"c3"},                    // ret
    {"@ffi_call_end"},
};

constexpr CodeTemplate kTemplates[] = {
    {"BC_JLOOP", kTraceEntry},
    {"BC_FUNCF", kFuncF, Hits::kAny},
    {"BC_FUNCC", kFuncC, Hits::kAny},
    {"vm_leave", kLeave},
    {"vm_unwind_c", kUnwindC},
    {"vm_unwind_rethrow", kRethrow},
    {"vm_unwind_ff", kUnwindFf},
    {"vm_resume", kResume},
    {"vm_pcall", kPcall},
    {"vm_call_dispatch", kCallDispatch, Hits::kAny},
    {"vm_cpcall", kCpcall},
    {"fff_gcstep", kGcStep},
    {"vm_exit_handler", kExit},
    {"vm_floor", kHelpers, Hits::kFirst},
    {"vm_cpuid", kCpuid},
    {"vm_ffi_callback", kCallback, Hits::kOneOrNone},
    {"vm_ffi_call", kFfiCall, Hits::kOneOrNone},
    {"vm_ffi_call, its end", kFfiCallEnd, Hits::kOneOrNone},
};

}  // namespace

const CodeTemplate kVmCall{"vm_call", kVmCallCode};
const CodeTemplate kFirstHandler{"BC_ISLT", kFirstHandlerCode, Hits::kFirst};

std::span<const CodeTemplate> vm_templates() { return kTemplates; }

}  // namespace bobbin::luajit

// SPDX-License-Identifier: Apache-2.0
// The parts of a LuaJIT VM that its layout is read from, for an assembler: GC64 as 0 or 1; the
// offsets as names that tests define; what a build can have besides as SIX_REGISTERS, ENDBR,
// TARANTOOL, NO_FFI. TWICE_x has a part twice, WITHOUT_x leaves it out; CONTRADICTION has two values
// for one offset. NO_CFI: no unwind information; EXACT_CFI: what is true at each instruction, instead
// of the one row that LuaJIT has. Between the parts, `ud2` stands for the code there,
// and FILLER bytes for the instruction handlers.
    .intel_syntax noprefix
    .text
#if GC64
#define RA rcx
#define RB rbp
#define RD rax
#define BASE rdx
#define PC rbx
#define DISPATCH r14
#define KBASE r15
#define CARG1 rdi
#define CARG2 rsi
#define SLOT 16
#define REFERENCE qword ptr
#else
#define RA ecx
#define RB ebp
#define RD eax
#define BASE edx
#define PC ebx
#define DISPATCH r14d
#define KBASE r15d
#define CARG1 edi
#define CARG2 esi
#define SLOT 8
#define REFERENCE dword ptr
#endif

#ifdef ENDBR
#define endbr endbr64
#else
#define endbr
#endif

#define VMSTATE r14+vm_state-dispatch
#ifndef FILLER
#define FILLER 12000
#endif
#define CUR_L r14+current_state-dispatch
#define JIT_BASE r14+jit_base-dispatch

#ifdef EXACT_CFI
#define CFI(...) __VA_ARGS__
#else
#define CFI(...)
#endif
    .macro cfi_called
    CFI(.cfi_def_cfa rsp, 8)
    CFI(.cfi_same_value rbp)
    .endm
    .macro cfi_interpreter
    CFI(.cfi_def_cfa rsp, cframe_bytes)
    CFI(.cfi_offset rbp, -16)
    .endm
    .macro cfi_moved bytes
    CFI(.cfi_adjust_cfa_offset \bytes)
    .endm

    .macro save_rbp
    push rbp
    cfi_moved 8
    CFI(.cfi_offset rbp, -16)
    .endm
    .macro save_registers
    push rbx
    cfi_moved 8
    push r15
    cfi_moved 8
    push r14
    cfi_moved 8
#ifdef SIX_REGISTERS
    push r13
    cfi_moved 8
    push r12
    cfi_moved 8
#endif
    sub rsp, frame_space
    cfi_moved frame_space
    .endm
    .macro restore_registers
    add rsp, frame_space
    cfi_moved -frame_space
#ifdef SIX_REGISTERS
    pop r12
    cfi_moved -8
    pop r13
    cfi_moved -8
#endif
    pop r14
    cfi_moved -8
    pop r15
    cfi_moved -8
    pop rbx
    cfi_moved -8
    pop rbp
    cfi_moved -8
    CFI(.cfi_same_value rbp)
    .endm
    .macro save_vm_state
#ifdef TARANTOOL
#if GC64
    mov r10d, [VMSTATE]
    mov [rsp+0x20], r10d
#else
    mov r11d, [VMSTATE]
    mov [rsp+0x2c], r11d
#endif
#endif
    .endm

// Their addresses, as nm shows them, are what has to be found.
    .macro place name
    .globl \name
    .hidden \name
\name:
    .endm

    .globl vm_begin
vm_begin:
#ifndef NO_CFI
    .cfi_startproc
    .cfi_def_cfa_offset cframe_bytes
    .cfi_offset rbp, -16
    .cfi_offset rbx, -24
    .cfi_offset r15, -32
    .cfi_offset r14, -40
#endif
#ifndef WITHOUT_FIRST_HANDLER
    .rept 4
    endbr
#if GC64
    mov r11, [rdx+rcx*8]
    mov rbp, [rdx+rax*8]
    mov rcx, r11
    mov rax, rbp
    sar r11, 47
    sar rbp, 47
#else
    cmp dword ptr [rdx+rcx*8+4], 0xfffeffff
    {disp32} jae far_away
    cmp dword ptr [rdx+rax*8+4], 0xfffeffff
    {disp32} jae far_away
#endif
    ud2
    .endr
#endif
    .fill FILLER, 1, 0x90

    .macro trace_entry names=1
    mov RA, [r14+jit_traces-dispatch]
#if GC64
    mov rax, [rcx+rax*8]
#else
    mov eax, [rcx+rax*4]
#endif
    mov rax, [rax+trace_machine_code]
    mov RB, [rsp+cframe_state]
    mov [JIT_BASE], BASE
    mov [r14-0x1234], RB
#if GC64
    sub rsp, 16
    cfi_moved 16
    .if \names
    place trace_entry_lowered
    .endif
    mov [rsp+16], r12
    mov [rsp+8], r13
#else
    mov [rsp], r12
    mov [rsp+8], r13
    sub rsp, 16
    cfi_moved 16
    .if \names
    place trace_entry_lowered
    .endif
#endif
    jmp rax
    cfi_interpreter
    .if \names
    place trace_entry_end
    .endif
    ud2
    .endm
#ifndef WITHOUT_TRACE_ENTRY
    trace_entry
#endif
#ifdef TWICE_TRACE_ENTRY
    trace_entry 0
#endif

    .rept 2
    mov KBASE, [rbx-4+prototype_constants]
    mov RB, [rsp+cframe_state]
    lea RA, [rdx+rcx*8]
    cmp RA, [rbp+state_max_stack]
    {disp32} ja far_away
    ud2
    .endr

#ifndef WITHOUT_FUNCC
    mov RB, [rdx-SLOT]
#if GC64
    shl rbp, 17
    shr rbp, 17
#endif
    mov r15, [rbp+function_c]
    mov RB, [rsp+cframe_state]
    lea RD, [rdx+rax*8-8]
    mov [rbp+state_base], BASE
    lea RA, [rax+0xa0]
    cmp RA, [rbp+state_max_stack]
    mov [rbp+state_top], RD
    ud2
#endif

    mov rcx, [rsp+cframe_previous]
    mov [rbp+state_cframe], rcx
    place unlinked
    xor eax, eax
#ifdef TARANTOOL
    mov dword ptr [VMSTATE], -1
#if GC64
    mov r10, [rsp+cframe_state]
    mov r10, [r10+state_base]
    mov [r14-0x222], r10
    mov r10d, [rsp+0x20]
    mov [VMSTATE], r10d
#else
    mov r11d, [rsp+0x2c]
    mov [VMSTATE], r11d
#endif
#endif
    place leave
    restore_registers
    ret
    cfi_interpreter
    ud2

#ifndef WITHOUT_UNWIND_C
    mov al, 1
    jmp 1f
    cfi_called
    place unwind_c
    endbr
    mov eax, esi
    mov rsp, rdi
    cfi_interpreter
    place unwind_c_landed
1:  endbr
    ud2
#endif

    endbr
    mov CARG1, [rsp+cframe_state]
    mov esi, eax
    place rethrow
    restore_registers
    {disp32} jmp far_away
    cfi_interpreter
    ud2

    cfi_called
    place unwind_ff
    endbr
    and rdi, -4
    mov rsp, rdi
    cfi_interpreter
    place unwind_ff_landed
    endbr
    mov RB, [rsp+cframe_state]
    ud2

    cfi_called
    place resume
    save_rbp
    save_registers
    mov RB, CARG1
    mov [rsp+cframe_state], CARG1
    mov RA, CARG2
    mov ebx, 5
    xor eax, eax
    lea r15, [rsp+1]
    mov DISPATCH, [rbp+state_global]
    add DISPATCH, dispatch
    save_vm_state
    mov [rsp+cframe_pc], RD
    mov [rsp+cframe_previous], rax
    mov [rsp+cframe_results], eax
    mov [rsp+cframe_error_function], eax
    mov [rbp+state_cframe], r15
    place resume_linked
    cmp byte ptr [rbp+state_status], al
    ud2

#ifndef WITHOUT_PCALL
    cfi_called
    place pcall
    save_rbp
    save_registers
    mov ebx, 5
    mov [rsp+cframe_error_function], ecx
    jmp 2f
#endif

    .macro vm_call names=1
    cfi_called
    .if \names
    place call
    .endif
    save_rbp
    save_registers
    mov ebx, 1
    .if \names
2:
    .endif
    mov [rsp+cframe_results], edx
    mov RB, CARG1
    mov [rsp+cframe_state], CARG1
    mov RA, CARG2
    mov DISPATCH, [rbp+state_global]
    mov r15, [rbp+state_cframe]
    mov [rsp+cframe_previous], r15
    mov [rsp+cframe_pc], RB
    add DISPATCH, dispatch
    save_vm_state
    mov [rbp+state_cframe], rsp
    .if \names
    place call_linked
    .endif
    mov [CUR_L], RB
    mov dword ptr [VMSTATE], -1
    mov BASE, [rbp+state_base]
    add PC, RA
    sub PC, BASE
    mov RD, [rbp+state_top]
    sub RD, RA
    shr eax, 3
    add eax, 1
    ud2
    .endm
    vm_call
#ifdef TWICE_CALL
    vm_call 0
#endif

    .macro call_dispatch pc
    mov BASE, RA
#if GC64
    mov [rdx-8], rbx
#else
    mov [rdx-4], ebx
#endif
    mov PC, [rbp+\pc]
    mov ecx, [rbx]
    movzx ebp, cl
    movzx ecx, ch
    add PC, 4
    jmp [r14+rbp*8]
    .endm
    call_dispatch function_pc
    ud2
#ifdef CONTRADICTION
    call_dispatch function_pc+8
#endif

    cfi_called
    place cpcall
    save_rbp
    save_registers
    mov RB, CARG1
    mov [rsp+cframe_state], CARG1
    mov [rsp+cframe_pc], RB
    mov KBASE, [rbp+state_stack]
    sub KBASE, [rbp+state_top]
    mov DISPATCH, [rbp+state_global]
    mov dword ptr [rsp+cframe_error_function], 0
    mov [rsp+cframe_results], r15d
    add DISPATCH, dispatch
    save_vm_state
    mov r15, [rbp+state_cframe]
    mov [rsp+cframe_previous], r15
    mov [rbp+state_cframe], rsp
    place cpcall_linked
    mov [CUR_L], RB
    call rcx
    ud2

    CFI(.cfi_def_cfa_offset cframe_bytes + 8)
    place gc_step
    pop rbp
    cfi_moved -8
#if GC64
    mov [rsp], rbp
#else
    mov [rsp+8], rbp
#endif
    mov RB, [rsp+cframe_state]
    mov [rsp+cframe_pc], PC
    mov [rbp+state_base], BASE
    lea RD, [rdx+rax*8-8]
    mov CARG1, RB
    mov [rbp+state_top], RD
    call far_away
    mov BASE, [rbp+state_base]
    mov RD, [rbp+state_top]
    sub RD, BASE
    shr eax, 3
    add eax, 1
#if GC64
    mov rbp, [rsp]
#else
    mov rbp, [rsp+8]
#endif
    place gc_step_return
    push rbp
    cfi_moved 8
    ret
    cfi_interpreter
    place gc_step_end
    ud2

    // DW_CFA_def_cfa_expression of three bytes: lit0, deref, deref. No register leads to the frame.
    CFI(.cfi_escape 0x0f, 3, 0x30, 0x06, 0x06)
    place exit_handler
    endbr
    push r13
    push r12
    push r11
    push r10
    push r9
    push r8
    push rdi
    push rsi
    push rbp
    lea rbp, [rsp+88]
    push rbp
    push rbx
    push rdx
    push rcx
    push rax
    movzx eax, byte ptr [rbp-8]
    mov ah, [rbp-16]
    mov [rbp-8], r15
    mov [rbp-16], r14
#if !GC64
    mov r14d, [rbp+0]
#endif
    mov ecx, [VMSTATE]
    mov dword ptr [VMSTATE], exit_vm_state
    mov [r14+jit_exit_number-dispatch], eax
    mov [r14+jit_parent_trace-dispatch], ecx
    sub rsp, 128
    add rbp, -128
    .irp number, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0
    movsd [rbp-8*(16-\number)], xmm\number
    .endr
    mov RB, [CUR_L]
    mov BASE, [JIT_BASE]
    mov [r14-0x333], rbp
    mov [rbp+state_base], BASE
    mov rsi, rsp
    lea CARG1, [r14+jit_state-dispatch]
    mov REFERENCE [JIT_BASE], 0
    call trace_exit
    place trace_exit_return
    mov rcx, [rbp+state_cframe]
    and rcx, -4
    CFI(.cfi_def_cfa rcx, cframe_bytes)
    place exit_in_rcx
#if !GC64
    mov rsp, rcx
    cfi_interpreter
    place exit_landed
#endif
    mov [rcx+cframe_state], RB
    mov BASE, [rbp+state_base]
    mov PC, [rcx+cframe_pc]
    jmp exit_joined
#if GC64
    place exit_landed
#endif
    CFI(.cfi_def_cfa rsp, cframe_bytes + 16)
    place exit_interp
    endbr
#if GC64
    lea rcx, [rsp+16]
    CFI(.cfi_def_cfa rcx, cframe_bytes)
    place exit_joined
    mov r13, [rcx-8]
    mov r12, [rcx]
    mov rsp, rcx
#else
    add rsp, 16
    cfi_interpreter
    place exit_joined
    .set exit_done, exit_joined
    .globl exit_done
    .hidden exit_done
    mov r13, [rsp+8]
    mov r12, [rsp]
#endif
#if GC64
    cfi_interpreter
    place exit_done
#endif
    ud2

    .macro rounding
    movabs rax, 0x7fffffffffffffff
    movq xmm2, rax
    movabs rax, 0x4330000000000000
    movq xmm3, rax
    movaps xmm1, xmm0
    ret
    .endm
    cfi_called
    place helpers_begin
    endbr
    rounding
    rounding

    mov eax, edi
    place cpuid_push
    push rbx
    cfi_moved 8
    xor ecx, ecx
    cpuid
    mov [rsi], eax
    mov [rsi+4], ebx
    mov [rsi+8], ecx
    mov [rsi+12], edx
    place cpuid_pop
    pop rbx
    cfi_moved -8
    ret
    ud2

#ifndef NO_FFI
    CFI(.cfi_def_cfa_offset 16)
    CFI(.cfi_offset rbp, -16)
    place callback
    save_registers
    lea DISPATCH, [rbp+dispatch]
    ud2
#endif
    .fill FILLER / 24, 1, 0x90
    .globl vm_end
vm_end:
#ifndef NO_CFI
    .cfi_endproc
#endif

#ifndef NO_FFI
#ifndef NO_CFI
    .cfi_startproc
#endif
    place ffi_call
    save_rbp
    mov rbp, rsp
    CFI(.cfi_def_cfa_register rbp)
    push rbx
    mov rbx, rdi
    mov eax, [rbx+8]
    sub rsp, rax
    ud2
    call [rbx]
    mov [rbx+0x90], rax
    movaps [rbx+0x10], xmm0
    mov [rbx+0x98], rdx
    movaps [rbx+0x20], xmm1
    mov rbx, [rbp-8]
    place ffi_call_leave
    leave
    cfi_called
    ret
    place ffi_call_end
#ifndef NO_CFI
    .cfi_endproc
#endif
#endif

far_away:
    ret
    place trace_exit
    ret
    .section .note.GNU-stack, "", @progbits

/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_BPF_ABI_H
#define BOBBIN_BPF_ABI_H

/* Everything that crosses the line between bpf/ and src/, and nothing else: structs, enums, limits.
 * C11 and C++20; sizes are asserted on both sides. */

#include <linux/types.h>

#ifdef __cplusplus
#define BOBBIN_ABI_ASSERT static_assert
namespace bobbin::abi {
#else
#define BOBBIN_ABI_ASSERT _Static_assert
#endif

/* ---- limits ------------------------------------------------------------------------------- */

enum {
	MAX_USER_FRAMES = 1024,
	MAX_KERNEL_FRAMES = 127, /* the kernel's own default, kernel.perf_event_max_stack */
	MAX_EXECUTABLES = 16384, /* at one time; all of /usr has 1,828; id 0 is never a file */
	MAX_EXECUTABLE_IDS = 1 << 22, /* an id's place in maps: id % MAX_EXECUTABLES */
	MAX_FILES = MAX_EXECUTABLES,
	MAX_TARGET_PROCESSES = 16384,
	MAX_SPECIAL_RULES = 4096, /* all of /usr has 1,043 distinct ones */
	MAX_MACROS = 32768, /* what 15 bits can name; 1 MiB */
	COMM_BYTES = 16,
	MAX_TARGET_CGROUPS = 1024,
	MAX_TARGET_COMMS = 64,
	COMM_WORDS = COMM_BYTES / 8,
};

/* ---- targets ---------------------------------------------------------------------------------
 * Who is asked for; whoever agrees with one of them is sampled. Bits of `only_targets`. */
enum target_kind {
	TARGET_PROCESSES = 1, /* with the children they have and will have */
	TARGET_THREADS = 2,
	TARGET_CGROUPS = 4, /* of version 2, with all below */
	TARGET_COMMS = 8,
};

/* ---- addresses of frames ---------------------------------------------------------------------
 * One word a frame. The address lies inside the instruction that was running or that made the call
 * (a return address is already stepped back by one), so names need no further rule.
 *
 *   bit 63      0: a place in a file   [61:40] executable_id   [39:0] offset in the file
 *               1: no file behind it   [61:0]  address in the process (JIT code and the like)
 *   bit 62      the frame was found by following the frame pointer, not by unwind information
 *
 * Kernel frames are plain kernel addresses. */
typedef __u64 frame_word;

#define FRAME_IS_ANONYMOUS (1ULL << 63)
#define FRAME_BY_FRAME_POINTER (1ULL << 62)
#define FRAME_EXECUTABLE_SHIFT 40
#define FRAME_EXECUTABLE_MASK ((1ULL << 22) - 1)
#define FRAME_FILE_OFFSET_MASK ((1ULL << FRAME_EXECUTABLE_SHIFT) - 1)
#define FRAME_ANONYMOUS_MASK ((1ULL << 62) - 1)

/* ---- files and executables --------------------------------------------------------------------
 * A file is known by what its inode says. Neither ctime (unlink changes it) nor the number alone
 * (ext4 hands a freed one to the next file) would do. An id never names a second file: when one is
 * forgotten, the next file in its place of the maps has an id that is higher by MAX_EXECUTABLES. */
struct file_key {
	__u64 inode;
	__u64 size_bytes;
	__s64 mtime_ns;
	__u32 device; /* super_block.s_dev, which stat() does not show on overlayfs and btrfs */
	__u32 generation;
};
BOBBIN_ABI_ASSERT(sizeof(struct file_key) == 32, "a hash key has no holes");

enum file_state {
	FILE_UNANNOUNCED = 0, /* to be announced by the next sample that meets it */
	FILE_ANNOUNCED = 1, /* user space was told */
	FILE_READY = 2, /* executables[executable_id] can be used */
	FILE_REFUSED = 3, /* no table: user space said why in its log and summary */
	FILE_NO_ROOM = 4, /* others need it more; user space makes it FILE_UNANNOUNCED again */
};

struct file_entry {
	__u32 executable_id;
	__u32 state; /* enum file_state; FILE_READY and what comes behind it is written by user space */
};
BOBBIN_ABI_ASSERT(sizeof(struct file_entry) == 8, "value of `files`");

/* The [vdso] of 64-bit processes: one image for the machine, file offset = address - its start. */
#define EXECUTABLE_ID_VDSO 1
#define FIRST_FILE_EXECUTABLE_ID 2

/* Where in the pool of unwind words an executable's table lies. Tables are indexed by file offset:
 * the kernel knows (vm_start, vm_pgoff) and nothing of program headers.
 *   granule = (file_offset - base_file_offset) >> granule_shift
 *   its line begins at word first_word + LINE_WORDS * granule */
struct executable {
	__u64 base_file_offset; /* multiple of 64 KiB; an entry's low bits are those of the file offset */
	__u32 first_word; /* index in the pool; multiple of TABLE_ALIGNMENT_WORDS */
	__u32 granule_count; /* 0: no table */
	__u32 granule_shift;
	__u32 is_ready; /* 0: its table is not there yet, or no longer; to be looked at first */
};
BOBBIN_ABI_ASSERT(sizeof(struct executable) == 24, "value of `executables`");

enum announcement_reason {
	ANNOUNCED_BY_EXEC = 0,
	ANNOUNCED_BY_SAMPLE = 1,
	ANNOUNCED_AT_START = 2,
};

/* "This file is not known yet." Writer: bpf/identify_file.bpf.h; reader: sampler/announcements. */
struct announcement {
	struct file_key key;
	__u64 vm_start_vaddr; /* the mapping that shows it: /proc/PID/map_files/START-END */
	__u64 vm_end_vaddr;
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u32 executable_id;
	__u32 pid; /* as the agent's /proc shows it; never 0 */
	__u32 reason; /* enum announcement_reason */
	__u32 unused;
};
BOBBIN_ABI_ASSERT(sizeof(struct announcement) == 72, "record of `announcements`");

/* ---- the unwind table -------------------------------------------------------------------------
 * A pool of 32-bit words in buckets of 1 MiB, and in it lines of 16 words: cache lines, because what a
 * look-up costs in a real program is the lines it misses. The lines of one executable follow each
 * other: one for each granule of 2^granule_shift bytes of the file, in their order, then second ones.
 * A table that fits a bucket lies in one, beside others; a larger one begins at a bucket's start.
 *
 *   word   [31:17] low 15 bits of the file offset   [16] ENTRY_IS_LINK   [15:0] code, or if a link
 *          the number of a second line, counted from the first of them
 *
 * A word holds from its offset up to the next one's. Word 0 of a line says what holds where the line's
 * range begins, whatever its own offset: a macro may have begun before. Words ascend; where there are
 * fewer than 16, the last one stands again. A granule with more entries has links to second lines, which
 * granules of one 2^15 bytes may share and which have none: a search is 4 halvings or 8 (tests/golden). */
enum {
	BUCKET_BYTES = 1 << 20,
	BUCKET_WORDS = BUCKET_BYTES / 4,
	BUCKET_WORDS_SHIFT = 18,
	MAX_BUCKETS = 1024, /* how many there are is the budget's business */
	LINE_WORDS = 16,
	TABLE_ALIGNMENT_WORDS = LINE_WORDS,
	MAX_SECOND_LINES = 1 << 16,
	MAX_SEARCH_STEPS = 8,
	MIN_GRANULE_SHIFT = 7, /* 128 bytes have at most 128 entries, in 8 second lines */
	MAX_GRANULE_SHIFT = 14, /* a macro from before is told apart by 15 bits up to the end */
	UNWIND_PAGE_SHIFT = 16, /* tables begin at a multiple */
	ENTRY_IS_LINK = 1 << 16,
	ENTRY_OFFSET_SHIFT = 17,
	ENTRY_OFFSET_MASK = 0x7fff,
};
BOBBIN_ABI_ASSERT((1 << BUCKET_WORDS_SHIFT) == BUCKET_WORDS, "shift and size agree");

/* A code with CODE_MACRO set names one of `macros` by its other 15 bits: the whole run of rules of a
 * prologue or epilogue in one entry, because the same pushes and pops come again and again. With
 * distance = (file_offset - the entry's own) modulo 2^15, the rule is codes[how many starts are <=
 * distance]. All eight compare at once: subtract the starts, a byte each, from 0x80 | min(distance,
 * 126). Where a line has words to spare, the last rule of a macro has an entry of its own: it holds for
 * the body of a function, and so most look-ups need not read the macro. */
enum {
	MACRO_STARTS = 8,
	MACRO_CODES = MACRO_STARTS + 1,
	MACRO_MAX_DISTANCE = 126,
	MACRO_NO_START = 127,
};

struct macro {
	__u64 starts; /* byte k: distance at which codes[k + 1] begins; ascending; MACRO_NO_START: none */
	__u16 codes[MACRO_CODES]; /* never themselves macros */
	__u16 unused[3];
};
BOBBIN_ABI_ASSERT(sizeof(struct macro) == 32, "value of `macros`; half a cache line");

/* code:  cfa = (BASE_RBP ? rbp : rsp) + 8 * [10:0];  return address = *(cfa - 8)
 *        [13:11] slot: 0 rbp is unchanged, 1..6 rbp = *(cfa - 8 - 8 * slot), 7 a special rule
 *        bit 14 base, bit 15 a macro
 * 99.74 % of all rows fit. A special's index is [10:0] and, above it, bit 14. */
enum {
	CODE_CFA_WORDS_MASK = 0x7ff,
	CODE_RBP_SLOT_SHIFT = 11,
	CODE_RBP_SLOT_MASK = 7,
	CODE_RBP_SLOT_MAX = 6,
	CODE_RBP_SLOT_SPECIAL = 7,
	CODE_BASE_RBP = 0x4000,
	CODE_MACRO = 0x8000,
	CODE_SPECIAL = CODE_RBP_SLOT_SPECIAL << CODE_RBP_SLOT_SHIFT,
	CODE_NO_CFI = CODE_SPECIAL, /* special 0: no unwind information covers this address */
};

enum special_cfa {
	SPECIAL_CFA_NONE = 0, /* no CFI */
	SPECIAL_CFA_RSP = 1, /* cfa = rsp + cfa_offset */
	SPECIAL_CFA_RBP = 2, /* cfa = rbp + cfa_offset */
	SPECIAL_CFA_REGISTER = 3, /* cfa = cfa_register + cfa_offset: only the leaf knows it */
	SPECIAL_CFA_DEREF_RSP = 4, /* cfa = *(rsp + cfa_offset) + cfa_addend */
	SPECIAL_CFA_DEREF_RBP =
		5, /* cfa = *(rbp + cfa_offset) + cfa_addend; gcc stack realignment */
	SPECIAL_CFA_PLT = 6, /* cfa = rsp + 8 + ((rip & 15) >= cfa_offset ? 8 : 0) */
	SPECIAL_CFA_SIGNAL_FRAME = 7, /* registers are in the ucontext of the signal frame at rsp */
	SPECIAL_CFA_UNSUPPORTED = 8, /* an expression of another shape */
};

enum special_rbp {
	SPECIAL_RBP_SAME = 0,
	SPECIAL_RBP_AT_CFA = 1, /* rbp = *(cfa + rbp_offset) */
	SPECIAL_RBP_AT_RBP = 2, /* rbp = *(rbp + rbp_offset) */
	SPECIAL_RBP_LOST =
		3, /* undefined or an expression: the walk goes on, rbp is not to be trusted */
};

/* Said only by files that have a CFA by rbx, all of whose rules are therefore special. */
enum special_rbx {
	SPECIAL_RBX_UNKNOWN = 0,
	SPECIAL_RBX_SAME = 1,
};

enum special_return_address {
	SPECIAL_RA_AT_CFA = 0, /* *(cfa + ra_offset) */
	SPECIAL_RA_UNDEFINED = 1, /* the outermost frame */
	SPECIAL_RA_REGISTER = 2, /* in ra_register: only the leaf knows it */
	SPECIAL_RA_UNSUPPORTED = 3,
	SPECIAL_RA_OTHER_STACK = 4, /* the caller is on another stack, and nothing says where */
};

struct special_rule {
	__u8 cfa; /* enum special_cfa */
	__u8 cfa_register; /* DWARF number; psABI x86-64 figure 3.36 */
	__u8 rbp; /* enum special_rbp */
	__u8 return_address; /* enum special_return_address */
	__u8 ra_register;
	__u8 changes_stack; /* the cfa is on another stack, so it need not lie above rsp */
	__u8 rbx; /* enum special_rbx; above: rbx = *(cfa - 8 * rbx) */
	__u8 enters_landing_pad; /* no call stands before the return address */
	__s32 cfa_offset;
	__s32 cfa_addend;
	__s32 rbp_offset;
	__s32 ra_offset; /* -8 nearly always */
};
BOBBIN_ABI_ASSERT(sizeof(struct special_rule) == 24, "value of `special_rules`");

/* ---- outcomes ---------------------------------------------------------------------------------
 * X(enumerator, name in metrics, text for people). Expected at sample rate: counted, never logged. */

/* Why the walk of a user stack ended. One for each emitted sample. */
#define BOBBIN_WALK_ENDS(X)                                                                        \
	X(WALK_END_BOTTOM, "bottom", "complete")                                                   \
	X(WALK_END_NO_USER_STACK, "no_user_stack", "kernel thread, no user stack")                 \
	X(WALK_END_NOT_ASKED, "not_asked", "user stack not asked for")                             \
	X(WALK_END_TRUNCATED, "truncated", "deeper than 1,024 frames")                             \
	X(WALK_END_FILE_NOT_READY, "file_not_ready", "unwind information was still being read")    \
	X(WALK_END_FILE_REFUSED, "file_refused", "the file has no usable unwind information")      \
	X(WALK_END_NO_ROOM, "no_room", "the budget for unwind tables was used up")                 \
	X(WALK_END_NO_MEMORY, "no_memory", "bobbin's own memory was used up (--max-memory)")       \
	X(WALK_END_FILES_FULL, "files_full", "more files than bobbin has room for")                \
	X(WALK_END_FILE_OUT_OF_SIGHT, "file_out_of_sight",                                         \
	  "a file only of processes outside of bobbin's pid namespace")                            \
	X(WALK_END_NO_MAPPING, "no_mapping", "the pc lies in no executable mapping")               \
	X(WALK_END_MAPPING_UNREADABLE, "mapping_unreadable",                                       \
	  "the kernel's list of mappings could not be read")                                       \
	X(WALK_END_NO_CFI, "no_cfi", "code without unwind information and without frame pointer")  \
	X(WALK_END_ANONYMOUS, "anonymous", "generated code without frame pointer")                 \
	X(WALK_END_UNSUPPORTED_RULE, "unsupported_rule", "an unwind rule bobbin does not know")    \
	X(WALK_END_REGISTER_UNKNOWN, "register_unknown",                                           \
	  "the rule needs a register that only the innermost frame has")                           \
	X(WALK_END_STACK_UNREADABLE, "stack_unreadable", "stack memory could not be read")         \
	X(WALK_END_IMPOSSIBLE_FRAME, "impossible_frame",                                           \
	  "the caller's frame would lie below or askew")                                           \
	X(WALK_END_OTHER_STACK, "other_stack", "the language's runtime switched to another stack") \
	X(WALK_END_IN_EXECVE, "in_execve", "the process was inside execve")                        \
	X(WALK_END_32_BIT, "compat_32_bit", "32-bit process")

enum walk_end {
#define X(enumerator, name, text) enumerator,
	BOBBIN_WALK_ENDS(X)
#undef X
		WALK_END_COUNT
};

/* What became of a tick. ticks = sum of all of these; TICK_EMITTED = records in the ring buffer. */
#define BOBBIN_TICK_OUTCOMES(X)                                                                    \
	X(TICK_EMITTED, "emitted", "sampled")                                                      \
	X(TICK_RING_FULL, "ring_full", "the ring buffer was full")                                 \
	X(TICK_NOT_A_TARGET, "not_a_target", "not of the processes asked for")                     \
	X(TICK_OUT_OF_SCOPE, "out_of_scope", "no frame of the kind asked for")                     \
	X(TICK_IDLE, "idle", "the CPU was idle")                                                   \
	X(TICK_NO_STATE, "no_state", "per-CPU state was missing")                                  \
	X(TICK_WALK_NOT_RUN, "walk_not_run", "the kernel refused the loop or tail call")

enum tick_outcome {
#define X(enumerator, name, text) enumerator,
	BOBBIN_TICK_OUTCOMES(X)
#undef X
		TICK_OUTCOME_COUNT
};

/* Per CPU; writer: bpf/outcome_counters.bpf.h, reader: sampler/outcome_counts. */
struct outcome_counters {
	__u64 ticks;
	__u64 tick_time_ns; /* run time of the program, by its own clock */
	__u64 by_tick_outcome[TICK_OUTCOME_COUNT];
	__u64 by_walk_end[WALK_END_COUNT];
	__u64 announcements_lost;
	__u64 stack_windows_read;
	__u64 mappings_found;
	__u64 rule_memory_hits; /* frames whose rule the thread's last walk had found */
	__u64 rule_memory_differences; /* where the tables say something else; only in tests */
	__u64 stack_copies; /* samples with SAMPLE_HAS_PAUSED_WALK */
	__u64 stack_copies_left_out; /* the ring buffer was over three quarters full */
	__u64 stack_copies_unreadable; /* not a byte at rsp could be read */
};

/* ---- the sample -------------------------------------------------------------------------------
 * One record of `samples`: this header, kernel frames, user frames, leaf first in both.
 * Writer: bpf/emit_sample.bpf.h; reader: sampler/sample_reader. */
enum sample_flag {
	SAMPLE_IN_KERNEL_MODE = 1,
	SAMPLE_HAS_PAUSED_WALK =
		2, /* behind the frames: struct paused_walk and what belongs to it */
};

struct sample_header {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 process_start_boot_ns; /* (pid, start) names a process even when the pid is reused */
	__u64 cgroup_id;
	__u32 pid; /* of the process, as the agent's /proc shows it; 0: not at all */
	__u32 tid;
	__u32 cpu;
	__u16 kernel_frame_count;
	__u16 user_frame_count;
	__u8 walk_end; /* enum walk_end */
	__u8 flags; /* enum sample_flag */
	__u16 unused;
	__u32 unused2;
	char process_comm[COMM_BYTES];
	char thread_comm[COMM_BYTES];
};
BOBBIN_ABI_ASSERT(sizeof(struct sample_header) == 80, "head of a record in `samples`");

/* ---- a walk that waits for a table ------------------------------------------------------------
 * A sample whose walk ended with WALK_END_FILE_NOT_READY carries all that is needed to walk on later,
 * when its process may be gone: registers, mappings, and the stack from its red zone up. User space
 * takes the step that the kernel side could not, by the same C and tables, once the file is ready.
 *   sample_header, frames, paused_walk, paused_mapping[mapping_count], stack bytes (stack_bytes)
 * The frame that was noted last is the one to go on from: user space notes it again.
 * The stack is described in blocks of STACK_BLOCK_BYTES from stack_vaddr to stack_vaddr +
 * stack_span_bytes, the last of which may be short. Pages that nobody has touched cannot be read: only
 * blocks whose bit is set in `present` follow, one behind the other.
 * Writer: bpf/pause_walk.bpf.h; reader: user_walk. */
enum {
	STACK_BLOCK_BYTES = 1024,
	MAX_STACK_BLOCKS = 256,
	MAX_STACK_SPAN_BYTES = MAX_STACK_BLOCKS * STACK_BLOCK_BYTES,
	MAX_STACK_COPY_BYTES = 64 << 10, /* of present blocks; a compiler's stack has 5.4 KB */
	MAX_PAUSED_MAPPINGS = 64, /* executable ones of a process, lowest first */
	PAUSED_REGISTERS = 21, /* words of struct pt_regs, <asm/ptrace.h> */
};

enum paused_flag {
	PAUSED_AT_RETURN_ADDRESS = 1, /* walk_state.rip_is_return_address */
	PAUSED_RBX_KNOWN = 2, /* registers[] holds this frame's rbx; else only the leaf's */
	PAUSED_MAPPINGS_CUT = 4, /* the process has more executable mappings than were listed */
};

struct paused_mapping {
	__u64 vm_start_vaddr;
	__u64 vm_end_vaddr;
	__u64 file_offset; /* of vm_start_vaddr */
	__u32 executable_id; /* 0: no file behind it, or no room for one more file (PAUSED_FILE_UNKNOWN) */
	__u32 flags; /* enum paused_mapping_flag */
};
BOBBIN_ABI_ASSERT(sizeof(struct paused_mapping) == 32, "part of a record in `samples`");

enum paused_mapping_flag {
	PAUSED_FILE_UNKNOWN = 1, /* WALK_END_FILES_FULL */
};

struct paused_walk {
	__u64 registers[PAUSED_REGISTERS]; /* innermost, or of a frame that a signal interrupted */
	__u64 rip; /* of the frame to go on from; a return address is not stepped back */
	__u64 rsp;
	__u64 rbp;
	__u64 vdso_vaddr;
	__u64 start_stack_vaddr; /* rsp at the program's first instruction, which has no CFI */
	__u64 stack_vaddr; /* rsp - 128, or its page; down to 8, or STACK_BLOCK_BYTES where pages lack */
	__u64 present[MAX_STACK_BLOCKS / 64];
	__u32 stack_span_bytes;
	__u32 stack_bytes; /* that follow the mappings; multiple of 8 */
	__u32 mapping_count;
	__u32 awaited_executable_id; /* the file whose table was not there; 0: a file without an id */
	__u32 flags; /* enum paused_flag */
	__u32 by_frame_pointer; /* walk_state.by_frame_pointer, enum walk_end */
};
BOBBIN_ABI_ASSERT(sizeof(struct paused_walk) == 272, "part of a record in `samples`");

#ifdef __cplusplus
} // namespace bobbin::abi
#endif
#endif

/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
#ifndef BOBBIN_IDENTIFY_FILE_BPF_H
#define BOBBIN_IDENTIFY_FILE_BPF_H

/* inode -> executable_id and state. The file, not the process, is what is known: a file that is ready
 * is ready in every process that starts later, with nothing to be noticed or announced. */

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "bobbin/bpf_abi.h"
#include "core_types.h"
#include "find_mapping.bpf.h"
#include "outcome_counters.bpf.h"

/* Preallocated: on 5.10 a perf_event program may use no other hash. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_FILES);
	__type(key, struct file_key);
	__type(value, struct file_entry);
} files SEC(".maps");

/* Ids that name no file yet. User space fills it, and adds one when it has forgotten a file. A queue,
 * because 5.10 has no atomic that returns the old value. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, MAX_EXECUTABLES);
	__type(value, __u32);
} free_executable_ids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} announcements SEC(".maps");

/* User space moves it on before it changes what stands in `files`: by two, to another even number. It is
 * odd while files are forgotten and until all programs have ended that may have met them. */
__u64 file_changes;

enum {
	FIND_FILE_TRIES = 3,
};

static __always_inline __s64 modification_time_ns(struct inode *inode)
{
	if (bpf_core_field_exists(struct inode, i_mtime_sec))
		return BPF_CORE_READ(inode, i_mtime_sec) * 1000000000LL +
		       BPF_CORE_READ(inode, i_mtime_nsec);
	if (bpf_core_field_exists(struct inode___6_7, __i_mtime)) {
		struct inode___6_7 *newer = (void *)inode;

		return BPF_CORE_READ(newer, __i_mtime.tv_sec) * 1000000000LL +
		       BPF_CORE_READ(newer, __i_mtime.tv_nsec);
	}
	struct inode___old *old = (void *)inode;

	return BPF_CORE_READ(old, i_mtime.tv_sec) * 1000000000LL +
	       BPF_CORE_READ(old, i_mtime.tv_nsec);
}

static __always_inline void read_file_key(struct inode *inode, struct file_key *key)
{
	key->inode = BPF_CORE_READ(inode, i_ino);
	key->size_bytes = BPF_CORE_READ(inode, i_size);
	key->mtime_ns = modification_time_ns(inode);
	key->device = BPF_CORE_READ(inode, i_sb, s_dev);
	key->generation = BPF_CORE_READ(inode, i_generation);
}

/* The element of a file, and in `seen` what it said. An element that is replaced or deleted is the next
 * file's at once (the map is preallocated), so what was read counts only if nothing has changed since it
 * was looked up; or, while files are forgotten, if it still is this file's: what was forgotten does not
 * come back meanwhile. */
static __always_inline struct file_entry *find_file(const struct file_key *key,
						    struct file_entry *seen)
{
	struct file_entry *entry, *last = NULL;
	__u64 changes, last_changes = 0;

	for (int i = 0; i < FIND_FILE_TRIES; i++) {
		changes = file_changes;
		barrier();
		entry = bpf_map_lookup_elem(&files, key);
		if (!entry)
			return NULL;
		if (entry == last && changes == last_changes)
			return entry;
		*seen = *entry;
		barrier();
		if (file_changes == changes && !(changes & 1))
			return entry;
		last = changes & 1 ? entry : NULL;
		last_changes = changes;
	}
	return NULL;
}

/* Tells user space of a file. A lost announcement leaves the file unannounced, so that the next sample
 * that meets it tries again. What is forgotten is never unannounced, so that no mark of ours can meet the
 * next file in its element. */
static __always_inline void announce(struct file_entry *entry, const struct file_key *key,
				     struct found_mapping *mapping, __u32 pid, __u32 reason)
{
	struct announcement announcement = {
		.key = *key,
		.vm_start_vaddr = mapping->vm_start_vaddr,
		.vm_end_vaddr = mapping->vm_end_vaddr,
		.time_ns = bpf_ktime_get_ns(),
		.executable_id = mapping->file.executable_id,
		.pid = pid,
		.reason = reason,
	};
	struct outcome_counters *counters;

	entry->state = FILE_ANNOUNCED;
	mapping->file.state = FILE_ANNOUNCED;
	if (bpf_ringbuf_output(&announcements, &announcement, sizeof(announcement), 0) == 0)
		return;
	entry->state = FILE_UNANNOUNCED;
	mapping->file.state = FILE_UNANNOUNCED;
	counters = this_cpu_counters();
	if (counters)
		counters->announcements_lost++;
}

static __always_inline struct file_entry *add_file(const struct file_key *key,
						   struct file_entry *seen)
{
	struct file_entry fresh = {.state = FILE_UNANNOUNCED};

	if (bpf_map_pop_elem(&free_executable_ids, &fresh.executable_id))
		return NULL;
	/* Another CPU may have been first: then its id stands and ours goes back. */
	if (bpf_map_update_elem(&files, key, &fresh, BPF_NOEXIST))
		bpf_map_push_elem(&free_executable_ids, &fresh.executable_id, 0);
	return find_file(key, seen);
}

/* What is known of the file behind mapping_searches[lane].found, announced if it was not known. NULL:
 * there is no room for another file; or no `pid` by which user space could find it, and nobody else
 * announced it. */
static __always_inline struct file_entry *identify_file(struct found_mapping *mapping, __u32 pid,
							__u32 reason)
{
	struct file_key key = {};
	struct file_entry *entry;

	read_file_key((struct inode *)mapping->inode, &key);
	entry = find_file(&key, &mapping->file);
	if (!entry && pid)
		entry = add_file(&key, &mapping->file);
	if (!entry || (!pid && mapping->file.state == FILE_UNANNOUNCED))
		return NULL;
	if (mapping->file.state == FILE_UNANNOUNCED)
		announce(entry, &key, mapping, pid, reason);
	return &mapping->file;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* bpf/ takes nothing from libbpf's header of this name that the host would need. */

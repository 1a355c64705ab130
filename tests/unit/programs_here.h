/* SPDX-License-Identifier: GPL-2.0-only */
/* To be included before headers of bpf/ that are compiled for user space: it
 * stands in for what they take from the kernel, which nothing here calls.
 */
#ifndef PROGRAMS_HERE_H
#define PROGRAMS_HERE_H

#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "vmlinux.h"

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <stdlib.h>

#undef bpf_core_type_id_kernel
#define bpf_core_type_id_kernel(type) 0

/* The loop of the kernel's iterators */
#undef bpf_for
#define bpf_for(i, start, end) for ((i) = (start); (i) < (end); (i)++)

#define bpf_map_lookup_elem(map, key) ((void)(map), (void)(key), NULL)

#endif /* PROGRAMS_HERE_H */

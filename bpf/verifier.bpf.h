/* SPDX-License-Identifier: GPL-2.0-only */
/* What is written as it is for the verifier's sake. The strictest one is that of 6.17.
 *
 * It follows every way through a program, with all that it knows of each register: a branch
 * doubles the work behind it unless both ways end in the same state. What it has followed
 * counts towards a limit (1 million instructions) and takes time whenever programs are loaded.
 *
 * A value of a map with a lock, a list or a kptr in it is no argument for a global function, so
 * GLOBAL_SUBPROG functions get the number of an instance, or its qdisc, and look it up themselves.
 * A part of it that has none of these is one.
 */
#ifndef VERIFIER_BPF_H
#define VERIFIER_BPF_H

#include "vmlinux.h"
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

extern void *bpf_rdonly_cast(const void *object, __u32 btf_id) __ksym;

/* A function that is walked through once, knowing nothing of its arguments. One that is static is
 * walked through again with each call.
 */
#define GLOBAL_SUBPROG __attribute__((noinline))

/* An argument that a GLOBAL_SUBPROG function may not use, depending on the AQM. The compiler would
 * see that and pass nothing in its register; the verifier wants a number there.
 */
#define PASSED(argument) barrier_var(argument)

/* A kernel object, to follow its pointers. Where the verifier trusts the object, up to 6.18 it
 * looks through the names of all kernel types, four times, whenever it comes past a pointer
 * that is read from it (btf_nested_type_is_trusted()): 7 ms of the load each. The cast ends
 * the trust. It makes a load some instructions longer.
 */
#define untrusted(object) \
	((const typeof(*(object)) *)bpf_rdonly_cast(object, bpf_core_type_id_kernel(*(object))))

/* Move a pointer to an element of an array forward by `n` (0 to 7) elements. The place of a kptr
 * must be a constant, so the offset is added up in branches, each of which is followed.
 */
#define ADVANCE_IN_BRANCHES(element, n)                                                       \
	asm volatile("if %[number] < 4 goto +2\n"                                             \
		     "%[pointer] += %[four]\n"                                                \
		     "%[number] += -4\n"                                                      \
		     "if %[number] < 2 goto +2\n"                                             \
		     "%[pointer] += %[two]\n"                                                 \
		     "%[number] += -2\n"                                                      \
		     "if %[number] < 1 goto +1\n"                                             \
		     "%[pointer] += %[one]\n"                                                 \
		     : [pointer] "+r"(element), [number] "+r"(n)                              \
		     : [four] "i"(4 * sizeof(*(element))), [two] "i"(2 * sizeof(*(element))), \
		       [one] "i"(sizeof(*(element))))

/* A condition that is hardly ever met: what its branch does to registers is not paid for outside.
 */
#define rarely(condition) __builtin_expect(!!(condition), 0)

/* Four bytes of a packet, wherever they are, in the order of the machine. Where memory is read at
 * aligned addresses only (CONFIG_HAVE_EFFICIENT_UNALIGNED_ACCESS) the verifier wants single bytes.
 */
#ifdef __TARGET_ARCH_riscv
#define word_at(bytes) \
	((u32)(bytes)[0] | (u32)(bytes)[1] << 8 | (u32)(bytes)[2] << 16 | (u32)(bytes)[3] << 24)
#else
#define word_at(bytes) (*(const u32 *)(bytes))
#endif

/* Eight bytes, likewise. */
static __always_inline u64 long_at(const u8 *bytes)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (u64)word_at(bytes + 4) << 32 | word_at(bytes);
#else
	return (u64)word_at(bytes) << 32 | word_at(bytes + 4);
#endif
}

/* Copy more than the compiler writes out. bpf_probe_read_kernel(), which copies as well, is not
 * allowed in a kernel that is locked down.
 */
static __always_inline void copy(void *to, const void *from, u32 size)
{
	struct bpf_dynptr target;

	bpf_dynptr_from_mem(to, size, 0, &target);
	bpf_dynptr_write(&target, 0, (void *)from, size, 0);
}

#endif /* VERIFIER_BPF_H */

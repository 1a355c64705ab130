/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Arrays of maps by the number of a qdisc, which has many DualQs (aqm_has_many()): what those for
 * hosts and for subscribers have in common.
 */
#ifndef BY_QDISC_H
#define BY_QDISC_H

#include "pinned/registration.h"

/* Whom the DualQs are for. */
struct by_qdisc {
	enum aqm_variant variant;
	/* Where struct registration has the array that gets its map first and loses it last: where
	 * it has none, nothing is left of a qdisc.
	 */
	size_t first;
	const char *whose;  /* "hosts" */
	const char *option; /* that asks for it */
	const char *fewer;  /* what to do without the memory */
};

/* An array of DualQs: a new fd, or -1, which is reported. */
int by_qdisc_make_dualqs(const struct by_qdisc *by, const struct registration *reg,
			 const char *name, __u32 length);

/* Report why a map cannot be made (-errno). `bytes`: of all, for so many. Always false. */
bool by_qdisc_refuse(const struct by_qdisc *by, int error, __u32 length, __u64 bytes);

/* The number of the live qdisc of this key: 1; 0: it is not there; -errno, which is reported. */
int by_qdisc_number(const struct registration *reg, const struct dualpi2_key *key, __u32 *number);

/* Put a map into its place: 0, or -errno. `keeps`: one that is there stays. */
int by_qdisc_put(int outer, __u32 number, int map, bool keeps);

/* The qdisc has gone before its maps came, or (-errno) the kernel does not take one. Always false.
 */
bool by_qdisc_gone(void);
bool by_qdisc_refuse_place(const struct by_qdisc *by, int error);

/* Close a file descriptor; -1: there is none. */
void by_qdisc_close(int fd);

/* Take a map away, if one is there. */
bool by_qdisc_take_away(const struct by_qdisc *by, int outer, __u32 number);

/* Remove what a former qdisc of this number has left. False: that failed, which is reported. */
typedef bool by_qdisc_remove(const struct registration *reg, __u32 number);

/* Of each former qdisc, until one fails. The lock is held. */
void by_qdisc_sweep(const struct by_qdisc *by, const struct registrations *regs,
		    by_qdisc_remove *remove);

#endif /* BY_QDISC_H */

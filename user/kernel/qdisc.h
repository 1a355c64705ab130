/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces and their qdiscs, through rtnetlink. Of look-ups -errno has been reported, unless a
 * comment says otherwise.
 */
#ifndef QDISC_H
#define QDISC_H

#include <linux/pkt_sched.h>
#include <stdbool.h>
#include <stdint.h>

#define QDISC_KIND_MAX 16      /* IFNAMSIZ, with the terminator, as the kernel has it */
#define QDISC_OPTIONS_MAX 4096 /* of those that are remembered */

#define QDISC_MAJOR_MAX 0xfffe /* of a handle; ffff: is that of clsact */

#define MQ_KIND "mq"

/* The kernel's counters, as `tc -s qdisc show` prints them. */
struct qdisc_counters {
	uint64_t bytes;
	uint64_t packets;
	uint32_t drops;
	uint32_t overlimits;
	uint32_t requeues;
	uint32_t backlog; /* bytes */
	uint32_t qlen;	  /* packets */
};

struct qdisc {
	int ifindex;
	char kind[QDISC_KIND_MAX];
	uint32_t handle; /* major 0: attached by the kernel on its own */
	uint32_t parent;
	uint32_t refcnt;
	bool has_size_table; /* tc's "stab": linklayer and overhead */
	struct tc_sizespec size_table;
	bool has_estimator;    /* tc's "est" */
	bool has_filter_block; /* tc's "ingress_block", "egress_block" */
	uint16_t options_len;
	uint8_t options[QDISC_OPTIONS_MAX]; /* TCA_OPTIONS as dumped */
	bool options_cut;		    /* they were longer */
	struct qdisc_counters counters;
};

/* Call `visit` for each qdisc of an interface (0: of all): 1: it returned true for one; 0: for
 * none; or -errno.
 */
int qdisc_each(int ifindex, bool (*visit)(const struct qdisc *qdisc, void *data), void *data);

/* The qdisc at the root of an interface; without one (a device that is down may have none, nor has
 * one that is gone) an empty kind. Not from a dump: that loses an interface if another one goes
 * meanwhile (tc_dump_qdisc() of net/sched/sch_api.c counts them).
 */
bool qdisc_root(int ifindex, struct qdisc *root);

/* The qdisc in a class of a classful one, whether or not a dump shows it: 1; 0: it was deleted,
 * packets for this class are thrown away; -ENOENT: there is no such class; another -errno: the
 * kernel does not say. Reports nothing.
 */
int qdisc_below(int ifindex, uint32_t parent, struct qdisc *qdisc);

/* Are there filters at a qdisc, by its handle, or at TC_H_CLSACT with TC_H_MIN_INGRESS: 1, 0, or
 * -errno.
 */
int qdisc_has_filters(int ifindex, uint32_t parent);

/* Is anything hung into a classful qdisc that belongs to a user, a qdisc with a
 * handle below it, or a filter: 1, 0, or -errno.
 */
int qdisc_has_parts(const struct qdisc *qdisc);

/* Put a qdisc at its parent, with a handle (0: the kernel chooses), a size table and what makes the
 * options that were dumped (options_len 0: none). With `replace` whatever is there goes; without,
 * only an automatic one does.
 */
bool qdisc_create(int ifindex, const struct qdisc *qdisc, bool replace);

/* The same with an mq that has a handle, and in one step with it a qdisc of `kind` for its first
 * queue: an mq that we are killed with is not taken for somebody's. Where that one is refused the
 * mq is there.
 */
bool qdisc_create_mq(int ifindex, const struct qdisc *mq, const char *kind, bool replace);

/* `step`, without options, in place of whatever is there, and in one step with it `qdisc` in its
 * place: nobody who is killed leaves `step`. It may stay where `qdisc` is refused.
 */
bool qdisc_create_after(int ifindex, const struct qdisc *step, const struct qdisc *qdisc);

/* A part of it that the kernel does not show, so that another one in its place would not have it;
 * NULL: nothing but its statistics.
 */
const char *qdisc_hidden_part(const struct qdisc *qdisc);

/* Are they the same, as far as the kernel shows it? */
bool qdisc_is_same(const struct qdisc *one, const struct qdisc *other);

/* Does a root qdisc come back the same from what is known of it? Tried on the loopback device of a
 * new network namespace, where nobody is harmed: 1, 0, or -errno: the kernel does not let us try.
 * Reports nothing.
 */
int qdisc_comes_back(const struct qdisc *qdisc);

/* Remove the root qdisc; the kernel attaches its automatic one. */
bool qdisc_delete(int ifindex);

/* "qdisc fq_codel 8001: root", as tc prints it, in `text` (QDISC_TEXT_MAX bytes). */
#define QDISC_TEXT_MAX 64
const char *qdisc_text(const char *kind, uint32_t handle, uint32_t parent, char *text);

#endif /* QDISC_H */

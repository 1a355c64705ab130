/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is at the root of an interface, and whose it is. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/qdisc.h"

#define MQ_KIND "mq"

enum owner {
	OWNER_NONE,    /* the kernel's default, or nothing: may go without a question */
	OWNER_US,      /* bpf_dualpi2, whoever attached it */
	OWNER_FOREIGN, /* somebody configured it */
};

/* What one transmit queue has under an mq. */
struct root_queue {
	uint32_t parent; /* class of the mq: MAJ:1 for the first queue */
	uint32_t handle;
	char kind[QDISC_KIND_MAX]; /* empty: nothing, packets are thrown away */
	bool unused;		   /* the device has it, but does not use it now */
};

struct root {
	struct qdisc qdisc;
	struct root_queue *queues; /* of an mq, by number; else NULL */
	size_t n_queues;
};

/* Read the root qdisc of an interface, and what is below an mq. To be freed with
 * root_free(), and before it is read again. Returns false, with a report
 * (message.h), if that fails; then nothing is to be freed.
 */
bool root_read(int ifindex, struct root *root);
void root_free(struct root *root);

/* An mq is ours if a queue of it is. */
enum owner root_owner(const struct root *root);
bool root_is_mq(const struct root *root);

/* Of a queue that is in use. */
enum owner queue_owner(const struct root_queue *queue);

/* Can this foreign root qdisc be put back exactly as it is, from what the kernel shows
 * of it? If not, `why` says what would be lost. Returns false, with a report
 * (message.h), if that cannot be found out.
 */
#define ROOT_WHY_MAX 128
bool root_restorable(int ifindex, const struct root *root, bool *restorable, char *why);

#endif /* TREE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is at the root of an interface, and whose it is. */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "aqm/aqm.h"
#include "dualpi2.h"
#include "kernel/qdisc.h"

enum owner {
	OWNER_NONE,    /* the kernel's default, or nothing: may go without a question */
	OWNER_US,      /* one of our kinds, whoever attached it */
	OWNER_FOREIGN, /* somebody configured it */
};

/* What one transmit queue has under an mq. */
struct tree_queue {
	uint32_t parent; /* class of the mq: MAJ:1 for the first queue */
	uint32_t handle;
	char kind[QDISC_KIND_MAX]; /* empty: nothing, packets are thrown away */
	const char *lost;	   /* what another one in its place would not have, or NULL */
	bool unused;		   /* the device has it, but does not use it now */
};

struct tree {
	struct qdisc root;
	struct tree_queue *queues; /* of an mq, by number; else NULL */
	size_t n_queues;
};

/* Read the root qdisc of an interface, and what is below an mq, into a tree that is zeroed or
 * read before. To be freed with tree_free(); not if that fails.
 */
bool tree_read(int ifindex, struct tree *tree);
void tree_free(struct tree *tree);

/* An mq is ours if a queue of it is. */
enum owner tree_owner(const struct tree *tree);
bool tree_is_mq(const struct tree *tree);

/* The AQM of what is ours in it, under an mq that of the first queue that has one; NULL: nothing
 * is. */
const struct aqm *tree_aqm(const struct tree *tree);

bool tree_has_ours_below_mq(const struct tree *tree);

/* Where the first one of ours is: TC_H_ROOT, or the class of a queue. */
uint32_t tree_first_of_ours(const struct tree *tree);

/* What others of ours in the place of those that are there would not have; NULL: nothing. Does an
 * mq stay?
 */
const char *tree_lost_part(const struct tree *tree, bool mq_stays);

/* A queue of an mq that somebody configured; NULL: there is none. */
const struct tree_queue *tree_foreign_queue(const struct tree *tree);

/* Is a queue of an mq in use without a qdisc of this AQM? Which is the first one (NULL: none is),
 * and how many are?
 */
bool queue_is_missing(const struct tree_queue *queue, const struct aqm *aqm);
const struct tree_queue *tree_missing_queue(const struct tree *tree, const struct aqm *aqm);
size_t tree_missing_queues(const struct tree *tree, const struct aqm *aqm);

/* How many queues of an mq have one of this AQM? */
size_t tree_queues_of(const struct tree *tree, const struct aqm *aqm);

/* Can this foreign root qdisc be put back as it is, from what the kernel shows of it and as far as
 * its kind tells: 1; 0: `why` says what would be lost; -errno: that cannot be found out, which is
 * reported (message.h). qdisc_comes_back() tries it.
 */
#define TREE_WHY_MAX 128
int tree_restorable(const struct tree *tree, char *why);

#endif /* TREE_H */

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "interface/tree.h"

#include <errno.h>
#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

#define READ_TRIES 10

/* Kinds whose dumped options make the same qdisc again. Others have classes, need
 * more to start than they show (red: its table), or do not show all of their
 * configuration (netem: its delay distribution).
 */
static const char *const restorable_kinds[] = {
	"bfifo",   "cake",  "codel",	  "dualpi2",	     "fq",  "fq_codel", "fq_pie", MQ_KIND,
	"noqueue", "pfifo", "pfifo_fast", "pfifo_head_drop", "pie", "sfq",	"tbf",
};

/* The entry of queue `number`, from 1 on; those up to it are made as needed. */
static struct tree_queue *queue_entry(struct tree *tree, size_t number)
{
	struct tree_queue *grown;

	if (number <= tree->n_queues)
		return &tree->queues[number - 1];
	grown = realloc(tree->queues, number * sizeof(*grown));
	if (!grown)
		return NULL;
	tree->queues = grown;
	while (tree->n_queues < number) {
		__u32 minor = tree->n_queues + 1;

		grown[tree->n_queues++] = (struct tree_queue){
			.parent = TC_H_MAKE(tree->root.handle, minor),
		};
	}
	return &grown[number - 1];
}

/* False: no room for it. */
static bool fill_queue(struct tree *tree, size_t number, const struct qdisc *qdisc, bool unused)
{
	struct tree_queue *queue = queue_entry(tree, number);

	if (!queue)
		return false;
	queue->handle = qdisc->handle;
	/* A size table is kept at the root only. */
	queue->lost = qdisc->has_size_table ? "the size table (stab) of a queue"
					    : qdisc_hidden_part(qdisc);
	queue->unused = unused;
	memcpy(queue->kind, qdisc->kind, sizeof(queue->kind));
	return true;
}

struct reading {
	struct tree *tree;
	bool saw_root;
};

/* True: it is one, and there is no room for it. */
static bool visit_queue(const struct qdisc *qdisc, void *data)
{
	struct reading *reading = data;
	struct tree *tree = reading->tree;
	size_t number = TC_H_MIN(qdisc->parent);

	if (qdisc->parent == TC_H_ROOT && qdisc->handle == tree->root.handle)
		reading->saw_root = true;
	return qdisc->parent != TC_H_ROOT && number &&
	       TC_H_MAJ(qdisc->parent) == TC_H_MAJ(tree->root.handle) &&
	       !fill_queue(tree, number, qdisc, false);
}

/* The dump shows the queues in use, but neither those that have lost their qdisc nor
 * those that the device does not use now (which keep one that the kernel hides). 0, or -errno.
 */
static int read_hidden_queues(struct tree *tree)
{
	struct qdisc qdisc;

	for (size_t number = 1;; number++) {
		int found;

		if (number <= tree->n_queues && tree->queues[number - 1].kind[0])
			continue;
		found = qdisc_below(tree->root.ifindex, TC_H_MAKE(tree->root.handle, number),
				    &qdisc);
		if (found < 0)
			return found == -ENOENT ? 0 : found;
		if (!(found ? fill_queue(tree, number, &qdisc, true) : !!queue_entry(tree, number)))
			return -ENOMEM;
	}
}

/* The dump loses this interface if another one goes meanwhile: see qdisc_root(). 0, or -errno. */
static int read_used_queues(struct tree *tree)
{
	struct reading reading = { .tree = tree };
	int found = 0;

	for (int tries = 0; !found && !reading.saw_root && tries < READ_TRIES; tries++)
		found = qdisc_each(tree->root.ifindex, visit_queue, &reading);
	if (found)
		return found > 0 ? -ENOMEM : found;
	return reading.saw_root ? 0 : -EBUSY;
}

static bool read_queues(struct tree *tree)
{
	int state = read_used_queues(tree);

	/* An automatic one cannot lose a qdisc, and has no classes to ask for. */
	if (!state && TC_H_MAJ(tree->root.handle))
		state = read_hidden_queues(tree);
	return expect_known(state, "the queues of the mq") >= 0;
}

void tree_free(struct tree *tree)
{
	free(tree->queues);
	*tree = (struct tree){};
}

bool tree_read(int ifindex, struct tree *tree)
{
	tree_free(tree);
	if (!qdisc_root(ifindex, &tree->root))
		return false;
	if (!tree_is_mq(tree) || read_queues(tree))
		return true;
	tree_free(tree);
	return false;
}

bool tree_is_mq(const struct tree *tree)
{
	return !strcmp(tree->root.kind, MQ_KIND);
}

bool tree_has_ours_below_mq(const struct tree *tree)
{
	return tree_is_mq(tree) && tree_aqm(tree);
}

uint32_t tree_first_of_ours(const struct tree *tree)
{
	for (size_t i = 0; i < tree->n_queues; i++) {
		if (aqm_of_kind(tree->queues[i].kind))
			return tree->queues[i].parent;
	}
	return TC_H_ROOT;
}

static enum owner owner_of(const char *kind, __u32 handle)
{
	if (aqm_of_kind(kind))
		return OWNER_US;
	return TC_H_MAJ(handle) ? OWNER_FOREIGN : OWNER_NONE;
}

const struct aqm *tree_aqm(const struct tree *tree)
{
	const struct aqm *aqm = aqm_of_kind(tree->root.kind);

	for (size_t i = 0; !aqm && i < tree->n_queues; i++)
		aqm = aqm_of_kind(tree->queues[i].kind);
	return aqm;
}

enum owner tree_owner(const struct tree *tree)
{
	return tree_aqm(tree) ? OWNER_US : owner_of(tree->root.kind, tree->root.handle);
}

const struct tree_queue *tree_foreign_queue(const struct tree *tree)
{
	for (size_t i = 0; i < tree->n_queues; i++) {
		if (owner_of(tree->queues[i].kind, tree->queues[i].handle) == OWNER_FOREIGN)
			return &tree->queues[i];
	}
	return NULL;
}

const char *tree_lost_part(const struct tree *tree, bool mq_stays)
{
	const char *lost = mq_stays ? NULL : qdisc_hidden_part(&tree->root);

	for (size_t i = 0; !lost && i < tree->n_queues; i++) {
		if (aqm_of_kind(tree->queues[i].kind))
			lost = tree->queues[i].lost;
	}
	return lost;
}

/* Where they share a rate, none may be left out that the device may use later (ethtool -L): it
 * would send on top of it.
 */
bool queue_is_missing(const struct tree_queue *queue, const struct aqm *aqm)
{
	return (aqm->variant == AQM_MQ || !queue->unused) && strcmp(queue->kind, aqm->kind);
}

const struct tree_queue *tree_missing_queue(const struct tree *tree, const struct aqm *aqm)
{
	for (size_t i = 0; i < tree->n_queues; i++) {
		if (queue_is_missing(&tree->queues[i], aqm))
			return &tree->queues[i];
	}
	return NULL;
}

size_t tree_missing_queues(const struct tree *tree, const struct aqm *aqm)
{
	size_t missing = 0;

	for (size_t i = 0; i < tree->n_queues; i++)
		missing += queue_is_missing(&tree->queues[i], aqm);
	return missing;
}

size_t tree_queues_of(const struct tree *tree, const struct aqm *aqm)
{
	size_t found = 0;

	for (size_t i = 0; i < tree->n_queues; i++)
		found += aqm_of_kind(tree->queues[i].kind) == aqm;
	return found;
}

static bool kind_is_restorable(const char *kind)
{
	for (size_t i = 0; i < sizeof(restorable_kinds) / sizeof(restorable_kinds[0]); i++) {
		if (!strcmp(kind, restorable_kinds[i]))
			return true;
	}
	return false;
}

int tree_restorable(const struct tree *tree, char *why)
{
	const struct qdisc *qdisc = &tree->root;
	int has_parts = qdisc_has_parts(qdisc);

	if (has_parts < 0)
		return has_parts;
	if (has_parts)
		snprintf(why, TREE_WHY_MAX, "qdiscs or filters inside it");
	else if (!kind_is_restorable(qdisc->kind))
		snprintf(why, TREE_WHY_MAX, "parts of %s that the kernel does not show",
			 qdisc->kind);
	else if (qdisc_hidden_part(qdisc))
		snprintf(why, TREE_WHY_MAX, "%s", qdisc_hidden_part(qdisc));
	else
		return 1;
	return 0;
}

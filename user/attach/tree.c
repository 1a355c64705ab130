// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "attach/tree.h"

#include <linux/pkt_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dualpi2.h"
#include "cli/message.h"

/* Kinds whose dumped options make the same qdisc again. Others have classes, need
 * more to start than they show (red: its table), or do not show all of their
 * configuration (netem: its delay distribution).
 */
static const char *const restorable_kinds[] = {
	"bfifo",   "cake",  "codel",	  "dualpi2",	     "fq",  "fq_codel", "fq_pie", MQ_KIND,
	"noqueue", "pfifo", "pfifo_fast", "pfifo_head_drop", "pie", "sfq",	"tbf",
};

/* The queues of an mq while they are being read. */
struct reading {
	int ifindex;
	struct root *root;
	bool out_of_memory;
};

/* The entry of queue `number`, from 1 on; those up to it are made as needed. */
static struct root_queue *queue_entry(struct root *root, size_t number)
{
	struct root_queue *grown;

	if (number <= root->n_queues)
		return &root->queues[number - 1];
	grown = realloc(root->queues, number * sizeof(*grown));
	if (!grown)
		return NULL;
	root->queues = grown;
	while (root->n_queues < number) {
		__u32 minor = root->n_queues + 1;

		grown[root->n_queues++] = (struct root_queue){
			.parent = TC_H_MAKE(root->qdisc.handle, minor),
		};
	}
	return &grown[number - 1];
}

static void fill_queue(struct reading *reading, size_t number, const struct qdisc *qdisc,
		       bool unused)
{
	struct root_queue *queue = queue_entry(reading->root, number);

	if (!queue) {
		reading->out_of_memory = true;
		return;
	}
	queue->handle = qdisc->handle;
	queue->unused = unused;
	memcpy(queue->kind, qdisc->kind, sizeof(queue->kind));
}

static void visit_queue(int ifindex, const struct qdisc *qdisc, void *data)
{
	struct reading *reading = data;
	size_t number = TC_H_MIN(qdisc->parent);

	if (ifindex == reading->ifindex && qdisc->parent != TC_H_ROOT && number &&
	    TC_H_MAJ(qdisc->parent) == TC_H_MAJ(reading->root->qdisc.handle))
		fill_queue(reading, number, qdisc, false);
}

/* The dump shows the queues in use, but neither those that have lost their qdisc nor
 * those that the device does not use now (which keep one that the kernel hides).
 */
static void read_hidden_queues(struct reading *reading)
{
	struct root *root = reading->root;
	struct qdisc qdisc;

	for (size_t number = 1; !reading->out_of_memory; number++) {
		if (number <= root->n_queues && root->queues[number - 1].kind[0])
			continue;
		switch (qdisc_below(reading->ifindex, TC_H_MAKE(root->qdisc.handle, number),
				    &qdisc)) {
		case QDISC_FOUND:
			fill_queue(reading, number, &qdisc, true);
			break;
		case QDISC_NONE:
			reading->out_of_memory = !queue_entry(root, number);
			break;
		case QDISC_NO_CLASS:
			return;
		}
	}
}

static bool read_queues(int ifindex, struct root *root)
{
	struct reading reading = { .ifindex = ifindex, .root = root };

	if (!qdisc_dump(visit_queue, &reading))
		return false;
	/* An automatic one cannot lose a qdisc, and has no classes to ask for. */
	if (TC_H_MAJ(root->qdisc.handle))
		read_hidden_queues(&reading);
	return !reading.out_of_memory || fail(0, "out of memory: free some");
}

bool root_read(int ifindex, struct root *root)
{
	*root = (struct root){};
	if (!qdisc_root(ifindex, &root->qdisc))
		return false;
	if (!root_is_mq(root) || read_queues(ifindex, root))
		return true;
	root_free(root);
	return false;
}

void root_free(struct root *root)
{
	free(root->queues);
	*root = (struct root){};
}

bool root_is_mq(const struct root *root)
{
	return !strcmp(root->qdisc.kind, MQ_KIND);
}

static enum owner owner_of(const char *kind, __u32 handle)
{
	if (!strcmp(kind, DUALPI2_KIND))
		return OWNER_US;
	return TC_H_MAJ(handle) ? OWNER_FOREIGN : OWNER_NONE;
}

enum owner queue_owner(const struct root_queue *queue)
{
	return owner_of(queue->kind, queue->handle);
}

enum owner root_owner(const struct root *root)
{
	for (size_t i = 0; i < root->n_queues; i++) {
		if (queue_owner(&root->queues[i]) == OWNER_US)
			return OWNER_US;
	}
	return owner_of(root->qdisc.kind, root->qdisc.handle);
}

static bool kind_is_restorable(const char *kind)
{
	for (size_t i = 0; i < sizeof(restorable_kinds) / sizeof(restorable_kinds[0]); i++) {
		if (!strcmp(kind, restorable_kinds[i]))
			return true;
	}
	return false;
}

bool root_restorable(int ifindex, const struct root *root, bool *restorable, char *why)
{
	const struct qdisc *qdisc = &root->qdisc;
	bool has_parts;

	if (!qdisc_has_parts(ifindex, qdisc, &has_parts))
		return false;
	*restorable = false;
	if (has_parts)
		snprintf(why, ROOT_WHY_MAX, "qdiscs or filters inside it");
	else if (!kind_is_restorable(qdisc->kind))
		snprintf(why, ROOT_WHY_MAX, "parts of %s that the kernel does not show",
			 qdisc->kind);
	else if (qdisc->has_size_table)
		snprintf(why, ROOT_WHY_MAX, "its size table (stab)");
	else if (qdisc->options_cut)
		snprintf(why, ROOT_WHY_MAX, "its options (too long)");
	else
		*restorable = true;
	return true;
}

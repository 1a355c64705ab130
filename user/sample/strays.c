// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "sample/sample.h"

#include <linux/pkt_sched.h>
#include <string.h>

#include "kernel/qdisc.h"

/* The mq of ours that a qdisc is below; NULL: none. */
static struct sample *mq_above(const struct samples *list, const struct qdisc *qdisc)
{
	for (size_t i = 0; i < list->count; i++) {
		struct sample *sample = &list->items[i];

		if (sample->is_sum && (int)sample->key.ifindex == qdisc->ifindex &&
		    TC_H_MAJ(qdisc->parent) == sample->total.stats.handle &&
		    TC_H_MIN(qdisc->parent))
			return sample;
	}
	return NULL;
}

/* Always false: the next one. */
static bool visit(const struct qdisc *qdisc, void *list)
{
	struct sample *mq = mq_above(list, qdisc);

	if (!mq || !strcmp(qdisc->kind, mq->aqm->kind))
		return false;
	if (!mq->strays.count++) {
		mq->strays.first = qdisc->parent;
		memcpy(mq->strays.kind, qdisc->kind, sizeof(mq->strays.kind));
	}
	return false;
}

static bool has_sum(const struct samples *list)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].is_sum)
			return true;
	}
	return false;
}

void strays_look(struct samples *list)
{
	if (has_sum(list))
		qdisc_each(0, visit, list);
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of the queues of an mq, and their sum. */
#ifndef SUMS_H
#define SUMS_H

#include "sample/sample.h"

/* A new item, a copy; the others may move. NULL: there is no memory, which is reported. */
struct sample *samples_append(struct samples *list, const struct sample *sample);

/* What all queues of an mq have in common. */
void sample_copy_interface(struct sample *to, const struct sample *from);

/* A qdisc that is not ours: is it below an mq of the list? */
void samples_note_stray(struct samples *list, const struct qdisc *qdisc);

/* Add the sum of each mq to a list that has its queues. False: as samples_append(). */
bool samples_add_sums(struct samples *list);

#endif /* SUMS_H */

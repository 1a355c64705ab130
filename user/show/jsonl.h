/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JSON lines: an object per qdisc and interval, with the figures of `--json` and what happened
 * in the interval.
 */
#ifndef JSONL_H
#define JSONL_H

#include <stdio.h>

#include "show/json.h"
#include "sample/sample.h"

/* To be called first, once: where the lines go. */
void jsonl_begin(FILE *file);

/* Print the lines of one sample, each with one write(2): no signal leaves half of one. */
void jsonl_print(FILE *file, const struct figures_list *sample,
		 const struct figures_list *intervals, enum document_delays delays);

#endif /* JSONL_H */

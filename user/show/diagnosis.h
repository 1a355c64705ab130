/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a qdisc has been doing, in words. */
#ifndef DIAGNOSIS_H
#define DIAGNOSIS_H

#include <stddef.h>

#include "sample/sample.h"

#define DIAGNOSIS_MAX 192

/* One sentence about what matters most of what happened between two samples (interval.h): what is
 * amiss, else who makes the queue and how long it is. Writes to `text` and returns it.
 */
const char *diagnose(const struct sample *interval, char text[DIAGNOSIS_MAX]);

/* So many characters of a text go on a line of `width`: up to the blank that is to be left out,
 * or all that there are.
 */
size_t diagnosis_line(const char *text, size_t width);

#endif /* DIAGNOSIS_H */

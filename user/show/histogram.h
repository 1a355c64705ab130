/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distribution of the delays of both queues as a plot on stdout, 80 columns wide, at most as
 * high as a terminal of 24 lines.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include "sample/sample.h"

void histogram_print(const struct samples *list);

#endif /* HISTOGRAM_H */

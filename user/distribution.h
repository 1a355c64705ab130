/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The distribution of the delays of both queues as a plot on stdout, 80 columns wide, at most as
 * high as a terminal of 24 lines.
 */
#ifndef DISTRIBUTION_H
#define DISTRIBUTION_H

#include "figures.h"

void distribution_print(const struct figures_list *list);

#endif /* DISTRIBUTION_H */

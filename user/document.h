/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures as a JSON document on stdout: an array with an object per instance
 * (for an mq another one, of kind mq, with the sums), with
 * the keys and units that `tc -j -s qdisc show` has for dualpi2, and more.
 */
#ifndef DOCUMENT_H
#define DOCUMENT_H

#include "figures.h"

void document_print(const struct figures_list *list);

#endif /* DOCUMENT_H */

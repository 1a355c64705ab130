/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures on stdout as `tc -s qdisc show` prints those of dualpi2. */
#ifndef TC_TEXT_H
#define TC_TEXT_H

#include "sample/sample.h"

void tc_print(const struct samples *list);

#endif /* TC_TEXT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures as a table for people on stdout, 80 columns wide. */
#ifndef TABLE_H
#define TABLE_H

#include "sample/sample.h"

void table_print(const struct samples *list);

#endif /* TABLE_H */

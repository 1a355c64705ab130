/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The course of one qdisc, as plots. */
#ifndef WATCH_PLOTS_H
#define WATCH_PLOTS_H

#include <stdint.h>

#include "watch/history.h"

/* From `line` on, as many as there is room for. */
void plots_draw(int line, const struct course *course, uint64_t interval_ns);

#endif /* WATCH_PLOTS_H */

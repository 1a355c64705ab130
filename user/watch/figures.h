/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One qdisc in figures. */
#ifndef WATCH_FIGURES_H
#define WATCH_FIGURES_H

#include "watch/history.h"

#define FIGURES_LINE 4 /* the first of the screen that they take */

/* Returns the line that follows. */
int figures_draw(const struct view *view);

#endif /* WATCH_FIGURES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Colours. */
#ifndef WATCH_PALETTE_H
#define WATCH_PALETTE_H

#include "show/show.h"

/* To be called on the terminal: which colours there are. None if $NO_COLOR is set. */
void palette_init(void);

/* Attributes of curses. */
int palette_condition(enum condition condition);

#endif /* WATCH_PALETTE_H */

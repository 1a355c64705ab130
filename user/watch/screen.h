/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which screen is drawn, and what all have. */
#ifndef WATCH_SCREEN_H
#define WATCH_SCREEN_H

#include "watch/keys.h"

#define SCREEN_COLUMNS 60 /* at least */
#define SCREEN_LINES 18

void screen_draw(const struct watcher *watcher);

#endif /* WATCH_SCREEN_H */

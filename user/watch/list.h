/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A line for each qdisc. */
#ifndef WATCH_LIST_H
#define WATCH_LIST_H

#include "watch/keys.h"

void list_draw(const struct watcher *watcher);

#endif /* WATCH_LIST_H */

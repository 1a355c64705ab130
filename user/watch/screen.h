/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which screen of qdiscs is drawn. */
#ifndef WATCH_SCREEN_H
#define WATCH_SCREEN_H

#include "watch/keys.h"

void screen_draw(const struct live *live);

#endif /* WATCH_SCREEN_H */

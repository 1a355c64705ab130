/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keys and words. */
#ifndef WATCH_HELP_H
#define WATCH_HELP_H

void help_draw(void);

#endif /* WATCH_HELP_H */

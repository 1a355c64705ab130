/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A host can have DUALPI2_MAX_INSTANCES qdiscs of a kind. */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stddef.h>

#include "pinned/registration.h"

/* How many more there can be. */
size_t room_left(const struct registration *reg);

/* Is there room for so many, of which `own` are there already? If not, it is said
 * (report_obstacle()) that `label` needs them.
 */
bool room_for(const struct registration *reg, const char *label, size_t needed, size_t own);

#endif /* ROOM_H */

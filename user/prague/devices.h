/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* prague_ect1 on the devices that packets leave by. */
#ifndef DEVICES_H
#define DEVICES_H

#include <stdbool.h>

#include "prague/programs.h"

#define DEVICE_PINS "devices"

/* Are there all of them? Names are separated by commas; NULL: none is asked for. */
bool devices_exist(const char *names);

/* Attach it in front of all others: those that look at the ECN field behind it are to see ECT(1).
 * `names`: as above; NULL: all devices that there are. `pinned`: the links are pinned,
 * or end with us. A device that already has it keeps it.
 */
bool devices_attach(const struct programs *programs, const char *names, bool pinned);

/* Let those that are pinned run the programs of a new version. */
bool devices_update(const struct programs *programs);

/* Detach those that are pinned, in all network namespaces. */
void devices_detach(void);

#endif /* DEVICES_H */

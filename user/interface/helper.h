/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The devices that we made for interfaces (device.h) are no interfaces to attach to. */
#ifndef HELPER_H
#define HELPER_H

#include <stdbool.h>

/* Is it none of them, or is there no such interface? False: it is reported of which interface it
 * is (report_obstacle()), or that this cannot be seen. The ledger is open.
 */
bool helper_is_none(const char *ifname);

#endif /* HELPER_H */

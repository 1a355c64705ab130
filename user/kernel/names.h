/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The names by which a file is for an interface (cli/config_dir.h). */
#ifndef NAMES_H
#define NAMES_H

#include "cli/config_dir.h"

/* Of an interface; the given one alone, if there is no such interface. False: they cannot be seen,
 * which is reported.
 */
bool names_find(const char *ifname, struct config_names *names);

#endif /* NAMES_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that has the options of an interface, by any of its names. */
#ifndef NAMES_H
#define NAMES_H

#include "cli/config_dir.h"

/* As config_find(). If there is no such interface the given name counts. False: it is reported that
 * there is no file, or that the names or the files cannot be seen.
 */
bool names_find_file(const char *ifname, const char *dir, bool or_default, char path[PATH_MAX]);

#endif /* NAMES_H */

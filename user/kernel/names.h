/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The file that has the options of an interface, by any of its names. */
#ifndef NAMES_H
#define NAMES_H

#include "cli/config_dir.h"

/* As config_find(), by all names of the interface; if there is no such interface, by the given one.
 * False: there is no file, or names or files cannot be read, which is reported.
 */
bool names_find_file(const char *ifname, const char *dir, bool or_default, char path[PATH_MAX]);

#endif /* NAMES_H */

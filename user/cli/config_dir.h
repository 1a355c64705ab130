/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which file of a directory has the options of an interface: dualpi2.conf(5). */
#ifndef CONFIG_DIR_H
#define CONFIG_DIR_H

#include <limits.h>
#include <stdbool.h>

#define CONFIG_DEFAULT "default.conf"

/* Is it a directory, and no file? */
bool config_is_dir(const char *path);

/* Is a file of this name one of options at all? */
bool config_is_file(const char *file);

/* Is a file of this name ("eth*.conf") for an interface, by its name or by a pattern that it
 * matches, and does it count more than another one ("": there is none yet)? What dualpi2-load
 * makes itself no pattern means.
 */
bool config_counts(const char *file, const char *other, const char *ifname);

/* The path of the file that has the name of an interface, else of the one whose name is a pattern
 * that it matches, else (`or_default`) of default.conf. False: it is reported that there is none.
 */
bool config_find(const char *dir, const char *ifname, bool or_default, char path[PATH_MAX]);

#endif /* CONFIG_DIR_H */

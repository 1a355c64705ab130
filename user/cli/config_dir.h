/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which file of a directory has the options of an interface: dualpi2.conf(5). */
#ifndef CONFIG_DIR_H
#define CONFIG_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define CONFIG_DEFAULT "default.conf"

/* Is it a directory, and no file? */
bool config_is_dir(const char *path);

/* Is a file of this name one of options at all? */
bool config_is_file(const char *file);

/* The names of an interface: its own, then alternative ones. */
#define CONFIG_NAME_SIZE 128 /* with the NUL: ALTIFNAMSIZ of linux/if.h */

struct config_names {
	char (*of)[CONFIG_NAME_SIZE]; /* free() them */
	size_t count;
	bool is_cut; /* memory ran out before the last one, which is reported */
};

/* Add one. `names`: struct config_names */
void config_add_name(const char *name, void *names);

/* Is a file of this name ("eth*.conf") for an interface, by a name or by a pattern that a name
 * matches, and does it count more than another one ("": there is none yet)? What dualpi2-load
 * makes itself no pattern means.
 */
bool config_counts(const char *file, const char *other, const struct config_names *names);

/* The path of the file that has a name of an interface, else of the one whose name is a pattern
 * that a name matches, else (`or_default`) of default.conf. False: it is reported that there is
 * none.
 */
bool config_find(const char *dir, const struct config_names *names, bool or_default,
		 char path[PATH_MAX]);

#endif /* CONFIG_DIR_H */

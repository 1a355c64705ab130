/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of our pins: whether it can be seen and trusted, and the lock on it. */
#ifndef PIN_DIR_H
#define PIN_DIR_H

#include <limits.h>
#include <stdbool.h>

#include "pinned/bpffs.h"

#define PIN_DIR BPFFS "/dualpi2"	 /* 0700 */
#define PUBLIC_PIN_DIR PIN_DIR "-public" /* 0755: what everybody may read */

/* Use this directory for all pins instead, without a public one. `program` is the tool that it
 * belongs to; the names of its BPF programs begin with `prefix`.
 */
void pins_belong_to(const char *directory, const char *program, const char *prefix);

#define PINS_WHY_MAX (BPFFS_WHY_MAX + 128)

/* Can we see what is pinned: 1; 0: there is no BPF file system, so nothing is pinned; -errno:
 * unknown, because another file system hides it, or because users other than its owner and root
 * could have put pins into the directory; `why` (PINS_WHY_MAX bytes) gives cause and remedy.
 */
int pins_find(char *why);

/* The same; what is unknown is reported. */
int pins_look(void);

/* Could we see it, when pins_find() looked last? */
bool pins_were_seen(void);

/* Could we pin: can we see what is pinned, and may we write there, or mount a BPF file system: 1; 0
 * or -errno, with `why`.
 */
int pins_may_be_made(char *why);

/* Are the pins there, but not for us to open for reading and writing? */
bool pins_are_hidden(void);

/* From now on have only these rights (privilege.h), and those to the pins if the directory is
 * somebody else's, or would be.
 */
void pins_keep_privilege(unsigned int privileges);

/* Create the directory if there is none, and lock it; waits up to 10 s for another tool. The lock
 * ends with the process.
 */
bool pins_lock(void);

/* The same if there is a directory; makes none, and mounts no file system for it. False also if it
 * is unknown what is pinned, which is reported.
 */
bool pins_lock_if_any(void);

/* Remove a directory in it, or ("") itself, which must be empty. It stays itself where another BPF
 * file system is hidden, because it says which of them is meant.
 */
void pins_remove_directory(const char *dir);

/* Remove itself, in which nothing of ours should be left: what is there all the same is reported.
 */
void pins_end(void);

/* ---- for pins.h ------------------------------------------------------------------------ */

/* Is there such a file: 1, 0, or -errno. */
int pin_dir_exists(const char *path);

/* The path of a pin in a directory of ours; `name` "": of that directory. */
const char *pin_path(const char *dir, const char *name, char path[PATH_MAX]);

/* The same below the directory `top`. */
const char *pin_dir_path(const char *top, const char *dir, const char *name, char path[PATH_MAX]);

/* Could nobody but its owner and root have put something into a directory: 0, or -errno; -EUCLEAN:
 * somebody could. It needs no right to open the directory.
 */
int pin_dir_trust(const char *path);

/* Report that somebody could. Always false. */
bool pin_dir_refuse(const char *path);

/* Open it, if so: an fd, or -errno as above. */
int pin_dir_open(const char *path);

/* Remove a directory. It stays if something is in it, or if we may not remove it. */
void pin_dir_remove(const char *path);

/* Report that something cannot be removed, with errno. */
bool pin_dir_report_kept(const char *path);

#endif /* PIN_DIR_H */

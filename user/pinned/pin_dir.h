/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory of our pins: whether it can be seen and trusted, and the lock on it. */
#ifndef PIN_DIR_H
#define PIN_DIR_H

#include <limits.h>
#include <stdbool.h>

#include "pinned/bpffs.h"

#define PIN_DIR BPFFS "/dualpi2"	 /* 0700 */
#define PUBLIC_PIN_DIR PIN_DIR "-public" /* 0755: what everybody may read */

/* All of pinned/ is about this directory instead, of which nothing is for everybody. `program` is
 * the tool that it belongs to.
 */
void pins_belong_to(const char *directory, const char *program);

#define PINS_WHY_MAX (BPFFS_WHY_MAX + 128)

/* Can it be seen what is pinned: 1; 0: there is no BPF file system, and so nothing is; -errno:
 * unknown: another file system hides it, or the directory is not one that only its owner and root
 * could put pins into. `why` (PINS_WHY_MAX bytes) has the cause and what helps.
 */
int pins_find(char *why);

/* Could we pin: is all of that well, and may we write there, or mount a BPF file system: 1; 0, or
 * -errno, with `why`.
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

/* The same if there is a directory; none is made, nor a file system for it. False as well where it
 * is unknown what is pinned, which is reported.
 */
bool pins_lock_if_any(void);

/* Remove a directory of it, which must be empty, or ("") itself: not where another BPF file system
 * is hidden, for it says which of them is meant.
 */
void pins_remove_directory(const char *dir);

/* ---- for pins.h ------------------------------------------------------------------------ */

/* Is there such a file: 1, 0, or -errno. */
int pin_dir_exists(const char *path);

/* Of a pin in a directory of that of ours; "": of the directory. */
const char *pin_path(const char *dir, const char *name, char path[PATH_MAX]);

/* The same below another directory. */
const char *pin_dir_path(const char *top, const char *dir, const char *name, char path[PATH_MAX]);

/* Can nobody but its owner or root have put something into a directory: 0, or -errno; -EPROTO:
 * somebody could. Who may not open it may pass all the same.
 */
int pin_dir_trust(const char *path);

/* Open it, if that is so: an fd, or -errno as above. */
int pin_dir_open(const char *path);

/* Remove a directory. One that has something in it stays, as does one that is not ours to remove.
 */
void pin_dir_remove(const char *path);

/* Report that something cannot be removed, for this errno. */
void pin_dir_report_kept(const char *path);

#endif /* PIN_DIR_H */

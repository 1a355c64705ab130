/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory that keeps our programs and maps alive, and the lock on it.
 *
 * Functions that return bool have reported (message.h) why they return false.
 */
#ifndef PINS_H
#define PINS_H

#include <stdbool.h>

#define BPFFS "/sys/fs/bpf"
#define PIN_DIR BPFFS "/dualpi2"	 /* 0700 */
#define PUBLIC_PIN_DIR PIN_DIR "-public" /* 0755: what everybody may read */

#define PINS_OTHER_VERSION                                                                      \
	"another version of bpf_dualpi2 is loaded: unload it from all interfaces with its own " \
	"dualpi2-load --unload, or `rm -r " PIN_DIR "`"

/* Is there a BPF file system: 1, 0, or -errno: we cannot look where the first process of the system
 * does. One that only that process sees counts and is entered: `ip netns exec` gives its command a
 * /sys of its own, and pins in a bpffs mounted there would go with the command. Reports nothing.
 */
int pins_find_bpffs(void);

#define BPFFS_HIDDEN_TEXT                                                                          \
	BPFFS " of the host cannot be seen from here (`ip netns exec` hides it, `nsenter --net=` " \
	      "does not)"

/* Mount one if there is none. */
bool pins_mount_bpffs(void);

/* May we write the pins, or make their directory? */
bool pins_are_writable(void);

/* From now on have only these rights (privilege.h), and those to the pins if the directory is
 * somebody else's, or would be.
 */
void pins_keep_privilege(unsigned int privileges);

/* Create the directory if there is none, and lock it; waits up to 10 s for another
 * tool. The lock ends with the process.
 */
bool pins_lock(void);

/* The same if there is a directory; none is made, nor a file system for it. */
bool pins_lock_if_any(void);

/* What follows is in a directory of PIN_DIR, `dir`, which pin_create() makes; "": PIN_DIR itself.
 */

/* Remove it, which must be empty. */
void pins_remove_directory(const char *dir);

/* A pinned object as a new fd, or -errno (-ENOENT: there is none). */
int pin_open(const char *dir, const char *name);

/* 1, 0, or -errno: unknown. Reports nothing. */
int pin_exists(const char *dir, const char *name);

bool pin_create(int fd, const char *dir, const char *name);

/* No pin of that name is fine as well. Reports what fails. */
void pin_remove(const char *dir, const char *name);

/* Call `visit` with the name of every pin that begins with `prefix`; it may remove
 * that pin.
 */
void pins_each(const char *dir, const char *prefix, void (*visit)(const char *name, void *data),
	       void *data);

/* ---- for everybody ----------------------------------------------------------------- */

/* Are the pins there, but not for us to open for reading and writing? */
bool pins_are_hidden(void);

/* Pin an object a second time, so that everybody may open it to read, if the BPF file system
 * itself lets them pass. Statistics are no secret: `tc -s qdisc show` tells most of them to
 * everybody. It is no failure if we may not, because only our directory of pins is ours.
 */
bool pin_publish(int fd, const char *dir, const char *name);

/* Open it to read: a new fd, or -errno. */
int pin_open_public(const char *dir, const char *name);

/* Remove all of a directory, and what is empty then. */
void pins_unpublish(const char *dir);

#endif /* PINS_H */

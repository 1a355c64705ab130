/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The directory that keeps our programs and maps alive, and the lock on it.
 *
 * Functions that return bool have reported (message.h) why they return false.
 */
#ifndef PINS_H
#define PINS_H

#include <stdbool.h>

#define BPFFS "/sys/fs/bpf"
#define PIN_DIR BPFFS "/dualpi2"

/* Is there a BPF file system? One that only the first process of the system sees
 * counts and is entered: `ip netns exec` gives its command a /sys of its own, and
 * pins in a bpffs mounted there would go with the command.
 */
bool pins_have_bpffs(void);

/* Mount one if there is none. */
bool pins_mount_bpffs(void);

/* Create the directory if there is none, and lock it; waits up to 10 s for another
 * tool. The lock ends with the process.
 */
bool pins_lock(void);

bool pins_directory_exists(void);

/* Remove the directory, which must be empty. */
void pins_remove_directory(void);

/* A pinned object as a new fd, or -errno (-ENOENT: there is none). */
int pin_open(const char *name);

bool pin_create(int fd, const char *name);

/* No pin of that name is fine as well. */
void pin_remove(const char *name);

/* Call `visit` with the name of every pin that begins with `prefix`; it may remove
 * that pin.
 */
void pins_each(const char *prefix, void (*visit)(const char *name, void *data), void *data);

#endif /* PINS_H */

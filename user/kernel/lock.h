/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Locks on directories and files. A lock ends with the process that holds it, whatever ends it. */
#ifndef LOCK_H
#define LOCK_H

/* Lock an open directory or file, without waiting, until its last file descriptor is closed: 0, or
 * an errno. EWOULDBLOCK: somebody else holds the lock, or removed the file before we got it.
 * Anybody who may open a file may lock it.
 */
int lock_at_once(int fd, const char *path);

/* Call `try`, which takes a lock at once, until it returns something else than EWOULDBLOCK, but for
 * no longer than LOCK_WAIT_S. What it returned last.
 */
#define LOCK_WAIT_S 10
int lock_by(int (*try)(const char *path), const char *path);

#endif /* LOCK_H */

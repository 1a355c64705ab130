/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Locks on directories and files. A lock ends with the process that holds it, whatever ends it. */
#ifndef LOCK_H
#define LOCK_H

/* Lock an open directory or file, without waiting, until its last file descriptor is closed: 0, or
 * an errno. EWOULDBLOCK: somebody else holds the lock, or removed the file before we got it.
 * Anybody who may open a file may lock it.
 */
int lock_at_once(int fd, const char *path);

#endif /* LOCK_H */

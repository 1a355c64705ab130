/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Locks on directories and files, which end with the process that has them, whatever ends it. */
#ifndef LOCK_H
#define LOCK_H

/* Lock an open directory, or a file, at once, until its last file descriptor is closed: 0, or an
 * errno. EWOULDBLOCK: somebody else has it, or has removed it before we had it. Whoever may open it
 * may lock it.
 */
int lock_at_once(int fd, const char *path);

#endif /* LOCK_H */

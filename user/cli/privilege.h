/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rights of the tools (capabilities(7)), which they give up as soon as they need them no
 * more. None is needed that root has beyond these.
 */
#ifndef PRIVILEGE_H
#define PRIVILEGE_H

#include <stdbool.h>
#include <stddef.h>

/* What rights are for. */
enum privilege {
	PRIVILEGE_MOUNT = 1,  /* enter the first mount namespace, or mount a BPF file system */
	PRIVILEGE_LOAD = 2,   /* load BPF programs, make maps */
	PRIVILEGE_NET = 4,    /* qdiscs, devices, tcx programs */
	PRIVILEGE_FILES = 8,  /* files that are somebody else's */
	PRIVILEGE_TYPES = 16, /* see the types that loaded BPF programs have */
};

/* From now on have only the rights that these need (of those we had), for good; and no exec can
 * bring others.
 */
void privilege_keep(unsigned int privileges);

/* Have we the rights for all of these? If not, `missing` has their names. */
bool privilege_suffices(unsigned int privileges, char *missing, size_t size);

/* Are we in a user namespace other than the first one? The rights that one has there are none for
 * what belongs to the host.
 */
bool privilege_is_confined(void);

/* "as root": how to run a tool that lacks the rights for these. Root is told which ones a container
 * or a service has taken from it, and where it has all, that something else forbids it.
 */
const char *privilege_as_root(unsigned int privileges);

#endif /* PRIVILEGE_H */

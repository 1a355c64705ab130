/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces that have a file of options (dualpi2.conf(5)): is a qdisc of ours attached to them? */
#ifndef CONFIGURED_H
#define CONFIGURED_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

struct configured {
	struct configured_interface {
		char ifname[IF_NAMESIZE];
		int attached; /* in either direction: 1, 0, or -errno: unknown */
	} *items;	      /* free() them */
	size_t count;
	bool is_known; /* false: something could not be looked at */
};

/* Open the directory of the files: a file descriptor, or -1, and it is reported why not. */
int configured_open(const char *path);

/* Look which interfaces of this network namespace (`ifname`: or just this one) have a file there.
 * What cannot be looked at is reported, and `is_known` is false.
 */
void configured_look(int directory, const char *ifname, struct configured *configured);

#endif /* CONFIGURED_H */

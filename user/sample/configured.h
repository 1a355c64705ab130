/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces that are to have a qdisc, because dualpi2.conf(5) says so: have they one?
 *
 * A file names them, itself or by a pattern; or there is default.conf, and their unit is enabled.
 */
#ifndef CONFIGURED_H
#define CONFIGURED_H

#include <dirent.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

/* Where it is looked, opened as long as we have the rights and are in the first mount namespace. */
struct configuration {
	DIR *files; /* NULL: they cannot be read */
	int units;  /* that are enabled; -1: none */
};

struct configured {
	struct configured_interface {
		char ifname[IF_NAMESIZE];
		int attached; /* in either direction: 1, 0, or -errno: unknown */
	} *items;	      /* free() them */
	size_t count;
	bool is_known; /* false: something could not be looked at */
};

/* Open the directory `path` of the files. What cannot be opened is reported. */
void configuration_open(const char *path, struct configuration *configuration);

void configuration_close(struct configuration *configuration);

/* Look at the interfaces of this network namespace (`ifname`: at just this one). What cannot be
 * looked at is reported, and `is_known` is false.
 */
void configured_look(const struct configuration *configuration, const char *ifname,
		     struct configured *configured);

#endif /* CONFIGURED_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces that are to have a qdisc in a direction, because dualpi2.conf(5) says so: have they
 * one?
 *
 * A file names them, itself or by a pattern; or there is default.conf, and their unit is enabled.
 */
#ifndef CONFIGURED_H
#define CONFIGURED_H

#include <limits.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernel/direction.h"

/* What the files say, read as long as we have the rights and are in the first mount namespace. */
struct configuration {
	struct configuration_file {
		char name[NAME_MAX + 1];
		bool is_for[N_DIRECTIONS]; /* does it have options for it? */
	} *files;
	size_t count;
	bool is_known; /* false: something could not be read */
	int units;     /* the directory of those that are enabled; -1: there are none */
};

struct configured {
	struct configured_direction {
		char ifname[IF_NAMESIZE];
		enum direction direction;
		int attached; /* 1, 0, or -errno: unknown */
	} *items;	      /* free() them */
	size_t count;
	bool is_known; /* false: something could not be looked at */
};

/* Read the files of the directory `path`. What cannot be read is reported. */
void configuration_open(const char *path, struct configuration *configuration);

void configuration_close(struct configuration *configuration);

/* Look at the interfaces of this network namespace (`ifname`: at just this one). What cannot be
 * looked at is reported, and `is_known` is false.
 */
void configured_look(const struct configuration *configuration, const char *ifname,
		     struct configured *configured);

#endif /* CONFIGURED_H */

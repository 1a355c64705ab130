/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices that we make for an interface: an ifb (ingress.h), a GSO splitter (gso.h). The
 * map dualpi2_helpers knows them by number: so the programs find them, and a later run
 * what an interrupted one has made.
 *
 * Functions that return bool have reported (message.h) why they return false.
 */
#ifndef HELPER_H
#define HELPER_H

#include "link.h"
#include "registration.h"

/* Whose is the device with the name of the helper? */
enum helper_owner {
	HELPER_NONE, /* there is none */
	HELPER_OURS,
	HELPER_FOREIGN,
};

struct helper {
	struct dualpi2_key key; /* of the interface, with what for in place of the parent */
	const char *kind;	/* of the device */
	char name[IF_NAMESIZE];
	char alias[LINK_ALIAS_MAX]; /* says what the device is for */
	enum helper_owner owner;
	__u32 ifindex; /* of the device, if there is one */
};

/* "PREFIX-eth0", or "PREFIX-7" where that would be too long for the name of a device. */
void helper_name(const char *prefix, const char *ifname, __u32 ifindex, char name[IF_NAMESIZE]);

/* Find the helper of an interface, whose `key`, `kind`, `name` and `alias` are given: under
 * the name that it has now. One that the map does not know, because the pins were deleted,
 * is known by its alias. `reg` need not be open.
 */
bool helper_find(const struct registration *reg, struct helper *helper);

/* Say that a helper is being made, so that it is known as ours however this process ends. */
bool helper_announce(const struct registration *reg, const struct helper *helper);

/* Note its number in the map: from now on the programs use it. */
bool helper_enter(const struct registration *reg, const struct helper *helper);

/* From now on the programs use it no more. */
void helper_forget(const struct registration *reg, const struct helper *helper);

/* Has it been entered? If not, an earlier run has only announced it, or its map is gone. */
bool helper_entered(const struct registration *reg, const struct helper *helper);

/* Call `visit` for the helpers made for one purpose (DUALPI2_IFB, DUALPI2_SPLITTER), with the
 * number of the device, 0 if it was only announced. They may be forgotten on the way.
 */
void helpers_each(const struct registration *reg, __u32 purpose,
		  void (*visit)(const struct registration *reg, const struct dualpi2_key *key,
				__u32 ifindex));

#endif /* HELPER_H */

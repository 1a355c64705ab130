/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces as devices, through rtnetlink.
 *
 * Functions that return bool have reported (message.h) why they return false,
 * unless their comment says otherwise.
 */
#ifndef LINK_H
#define LINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define LINK_KIND_MAX 16

struct link {
	int ifindex;
	char name[IF_NAMESIZE];
	char kind[LINK_KIND_MAX]; /* "ifb", "veth"; empty: a hardware device */
	uint16_t type;		  /* ARPHRD_* */
	uint32_t tx_queues;	  /* transmit queues that the device has, used or not */
};

/* An interface of this network namespace by its number. Reports nothing: false means that
 * there is none.
 */
bool link_read(int ifindex, struct link *link);

/* Make a device; it is down. */
bool link_create(const char *name, const char *kind);

/* Set a device up, without IPv6 addresses. */
bool link_set_up(int ifindex);

/* Remove a device that was made. */
bool link_delete(int ifindex);

#endif /* LINK_H */

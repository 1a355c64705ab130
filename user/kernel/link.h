/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Interfaces as devices, through rtnetlink. */
#ifndef LINK_H
#define LINK_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#define LINK_KIND_MAX 16
#define NETKIT_KIND "netkit"
#define IFB_KIND "ifb"
#define LINK_ALIAS_MAX 128

/* Settings that link_change() can change, and that can be put back. */
enum link_setting {
	LINK_GSO_MAX_SEGS,
	LINK_GRO_MAX_SIZE,	/* bytes; of IPv6 packets, and when changed of IPv4 packets, too */
	LINK_GRO_IPV4_MAX_SIZE, /* bytes; overrides what the other does to IPv4 packets */
	N_LINK_SETTINGS,
};

struct link {
	int ifindex;
	char name[IF_NAMESIZE];
	char kind[LINK_KIND_MAX];   /* "ifb", "veth"; empty: a hardware device */
	char alias[LINK_ALIAS_MAX]; /* what `ip link` shows about it, to people */
	uint64_t address;	    /* MAC address: its six bytes in order, then 0; or 0 */
	uint16_t type;		    /* ARPHRD_* */
	uint32_t mtu;		    /* bytes */
	uint32_t tx_queues;	    /* transmit queues that the device has, used or not */
	uint32_t rx_queues;	    /* receive queues, the same */
	uint32_t settings[N_LINK_SETTINGS];
	int peer;     /* other end, where that is a device of this host; or 0 */
	bool running; /* up, and connected */
};

/* An interface of this network namespace by its number: 1; 0: there is none; -errno, which is
 * reported: the kernel does not say.
 */
int link_look(int ifindex, struct link *link);

/* The same by its name, or by an alternative one (`ip link property`). Not if_nametoindex(),
 * for which "eth0:1" is eth0, and which has the kernel look for a module of that name.
 */
int link_look_for(const char *name, struct link *link);

/* The same of one that has to be there. `label` begins the message that it is gone. */
bool link_expect(int ifindex, const char *label, struct link *link);
bool link_named(const char *name, struct link *link);

/* Call `visit` for each name of an interface: its own, then the alternative ones; for none, if it
 * has just been removed. False: the kernel does not show them, which is reported.
 */
bool link_each_name(int ifindex, void (*visit)(const char *name, void *data), void *data);

/* The speed that a network card reports, bytes/s; 0: none, or it is no hardware: a veth reports
 * 10 Gbit/s, but has no speed.
 */
uint64_t link_speed(const struct link *link);

/* Call `visit` for the devices of a kind (NULL: all). False: the kernel does not show them. */
bool link_each(const char *kind, void (*visit)(const struct link *link, void *data), void *data);

/* A device to be made. */
struct link_plan {
	const char *kind;
	const char *name;
	const char *peer;   /* of a netkit pair: name of the other end; else NULL */
	uint64_t address;   /* as in struct link */
	uint32_t tx_queues; /* 0: as many as the kernel makes */
};

/* Make a device, which is down, and tell its number and name. A netkit pair passes nothing but
 * what programs pass. 0; -EEXIST: the name is taken; -EOPNOTSUPP: the kernel has no such devices;
 * another -errno, which is reported.
 */
int link_create(const struct link_plan *plan, struct link *made);

/* Has the kernel such devices? Makes none. */
int link_kernel_has_netkit(void);

/* Changes of a device; what is 0 stays. */
struct link_change {
	bool up;
	const char *alias;
	uint32_t gso_max_size; /* bytes; also of IPv4 packets */
	uint32_t settings[N_LINK_SETTINGS];
};

bool link_change(int ifindex, const struct link_change *change);

/* No IPv6 address of its own, with the router solicitations that come of it. Best
 * effort: it is an error where there is no IPv6.
 */
void link_without_addresses(int ifindex);

/* Remove a device that was made, if nobody else has in the meantime. */
bool link_delete(int ifindex);

#endif /* LINK_H */

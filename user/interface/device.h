/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Devices that we make for an interface: an ifb (ingress.h), a GSO splitter (gso.h).
 *
 * A device is ours if it has the MAC address that the ledger has for it. The address is random, and
 * noted before the device is made. By it the programs find the device, and a later run finds what
 * an interrupted one has made; users may change the name, and numbers are reused. If the ledger is
 * gone, because the pins were deleted, the alias tells, by the interface's number and the cookie of
 * the network namespace.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include "kernel/link.h"
#include "pinned/registration.h"

/* What devices are made for. */
struct device_kind {
	__u32 purpose; /* DUALPI2_IFB, DUALPI2_SPLITTER */
	const char *kind;
	const char *prefix;	 /* of the name */
	const char *peer_prefix; /* of the name of the other end of a pair; or NULL */
	const char *about;	 /* begins its alias */
};

extern const struct device_kind ifb_kind, splitter_kind;

struct device {
	const struct device_kind *kind;
	struct dualpi2_key key;	    /* of the interface, with what for in place of the parent */
	char alias[LINK_ALIAS_MAX]; /* says what the device is for */
	__u64 address;		    /* as in struct link */
	__u32 ifindex;		    /* of the device; 0: there is none */
	__u32 parent;		    /* as in struct dualpi2_device */
	bool entered;		/* the programs use it; if not, an earlier run was interrupted */
	char name[IF_NAMESIZE]; /* that it has now */
};

/* Find that of an interface (key.parent: any). */
bool device_find(const struct device_kind *kind, const struct dualpi2_key *key,
		 struct device *device);

/* Make the device of an interface that has none, with so many transmit queues (0: as many as the
 * kernel makes). It is called "PREFIX-eth0", "PREFIX-7" by the
 * interface's number where that is too long or taken, else as the kernel numbers it. 0;
 * -EOPNOTSUPP: the kernel has no such devices; another -errno, which is reported.
 */
int device_make(struct device *device, const char *ifname, uint32_t tx_queues);

/* From now on the programs use it. */
bool device_enter(const struct device *device);

/* From now on they use it no more. */
void device_forget(const struct device *device);

/* Call `visit` for each of a kind in this network namespace: those that the ledger has, and then
 * those that it does not have, or not for us, whose alias tells of which interface they are. False:
 * they cannot be seen, or `visit` returned false, which is reported.
 */
bool devices_each(const struct device_kind *kind,
		  bool (*visit)(const struct device *device, bool is_recorded, void *data),
		  void *data);

/* Remove those of a kind that are of no more use, which `is_useless` tells by their interface: 1, 0
 * or -errno. That of the interface `spared` in this network namespace stays (0: none). Of a
 * namespace that has ended, `remove` gets the device with ifindex 0: it is gone.
 */
void devices_sweep(const struct registrations *regs, const struct device_kind *kind, __u32 spared,
		   int (*is_useless)(const struct registrations *regs,
				     const struct dualpi2_key *key),
		   void (*remove)(const struct registrations *regs, const struct device *device,
				  const void *data),
		   const void *data);

/* Is an interface none of these devices, which are none to attach to, or is there no such
 * interface? False: it is reported of which interface it is (report_obstacle()), or that this
 * cannot be seen. The ledger is open.
 */
bool device_is_none(const char *ifname);

/* Is an interface one of these devices? 1; 0; -EIO: this cannot be seen, which is reported. */
int device_look(const struct link *link);

/* What is said of one, behind its name, and again with it. */
#define LEFT_OVER "is left over of an interface that is gone: `ip link del %s` removes it"

#endif /* DEVICE_H */

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps to a splitter, each of which is undone if a later one fails:
 *
 *	netkit		make the pair; its program, which goes with it; set it up, and no
 *			GSO packet passes it whole; enter it in the map of devices
 *	tcx egress	the program that sends GSO packets there, before all others
 */
#include "attach/gso.h"

#include <net/if.h> /* first: <linux/if_arp.h> yields to it */

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attach/borrowed.h"
#include "check/report.h"
#include "cli/message.h"
#include "interface/left_over.h"
#include "kernel/link.h"
#include "kernel/object_shape.h"
#include "pinned/tcx.h"
#include "split_gso.h"

/* No packet of more than one segment passes whole; and none above this many bytes, for those
 * of virtual machines may leave it to the kernel to count their segments. The kernel
 * allows no less than a TCP header's room (MAX_TCP_HEADER, 320 at most).
 */
#define SPLITTER_GSO_MAX_SEGS 1
#define SPLITTER_GSO_MAX_SIZE 512

/* ---- which are split --------------------------------------------------------------- */

static __u32 link_header(const struct link *link)
{
	return link->type == ARPHRD_ETHER ? ETH_HLEN : 0;
}

/* Of a full frame, bytes. */
static __u32 frame_len(const struct link *link)
{
	return link->mtu + link_header(link);
}

bool gso_decide(const struct target *target, struct dualpi2_params *params)
{
	struct link link;

	params->split_above = 0;
	if (params->split_gso != DUALPI2_SPLIT_AUTO)
		return true;
	if (!link_expect((int)target->key.ifindex, target->label, &link))
		return false;
	params->split_above = gso_split_above(params, params->rate ?: link_speed(&link),
					      frame_len(&link), link_header(&link));
	return true;
}

const char *gso_which(const struct dualpi2_params *params, char *text)
{
	text[0] = '\0';
	if (params->split_above)
		snprintf(text, GSO_TEXT_MAX, " of more than %llu bytes", params->split_above);
	return text;
}

/* ---- the device ------------------------------------------------------------------ */

/* How to get packets that are not GSO packets. */
enum way {
	WAY_SPLIT,     /* by a device of ours */
	WAY_BORROW,    /* none are made: a setting says so to local senders, or to the feeder */
	WAY_UNCHANGED, /* not at all */
	WAY_UNKNOWN,   /* which is reported */
};

/* Splitting is for Ethernet and for links that carry bare IP packets. An ifb needs to know
 * where a packet came from, and a tunnel that is one by type where it goes: a redirect
 * takes both away.
 */
static enum way choose_way(const struct target *target)
{
	struct link link;

	if (!link_expect((int)target->key.ifindex, target->label, &link))
		return WAY_UNKNOWN;
	if (target->feeder)
		return WAY_BORROW;
	if (!strcmp(link.kind, IFB_KIND))
		return WAY_UNCHANGED;
	switch (link.type) {
	case ARPHRD_ETHER:
	case ARPHRD_NONE:
	case ARPHRD_RAWIP:
	case ARPHRD_PPP:
		return WAY_SPLIT;
	}
	return WAY_BORROW;
}

/* The interface that packets come from, and what it is to do without. */
static struct dualpi2_key lender(const struct target *target)
{
	return (struct dualpi2_key){
		.netns = target->key.netns,
		.ifindex = target->feeder ? target->feeder->key.ifindex : target->key.ifindex,
	};
}

static enum setting setting_of(const struct target *target)
{
	return target->feeder ? SETTING_NO_GRO : SETTING_NO_GSO;
}

/* Have no packets made that would have to be split. */
static bool borrow(const struct target *target, const struct dualpi2_params *params)
{
	const struct dualpi2_key key = lender(target);
	struct link link;
	__u64 limit;

	if (!link_expect((int)target->key.ifindex, target->label, &link))
		return false;
	limit = params->split_above / (target->feeder ? 1 : MAX(frame_len(&link), 1U));
	return setting_borrow(&key, setting_of(target), MAX(MIN(limit, UINT32_MAX), 1));
}

/* 1, 0, or -errno, which is reported. */
static int has_program(const struct registration *reg, const struct device *splitter)
{
	__u32 id = 0, segment = object_id(reg->segment);
	LIBBPF_OPTS(bpf_prog_query_opts, opts, .prog_ids = &id, .count = 1);
	int error;

	error = segment ? bpf_prog_query_opts((int)splitter->ifindex, BPF_NETKIT_PRIMARY, &opts)
			: -errno;
	return expect_known(error ?: id == segment, "the programs of %s", splitter->name);
}

/* Not by a link: the program stays as long as the device does, whatever becomes of our
 * pins.
 */
static bool attach_program(const struct registration *reg, const struct device *splitter)
{
	int error, state = has_program(reg, splitter);

	if (state)
		return state > 0;
	error = bpf_prog_attach_opts(reg->segment, (int)splitter->ifindex, BPF_NETKIT_PRIMARY,
				     NULL);
	return !error || fail(-error, "the kernel refuses the program of %s", splitter->name);
}

/* Both ends have to be up. */
static bool set_up(const struct device *splitter)
{
	char about_peer[LINK_ALIAS_MAX];
	const struct link_change change = {
		.up = true,
		.alias = splitter->alias,
		.settings[LINK_GSO_MAX_SEGS] = SPLITTER_GSO_MAX_SEGS,
		.gso_max_size = SPLITTER_GSO_MAX_SIZE,
	};
	const struct link_change peer_change = { .up = true, .alias = about_peer };
	struct link link;

	snprintf(about_peer, sizeof(about_peer), "other end of %s, carries nothing",
		 splitter->name);
	if (!link_expect((int)splitter->ifindex, splitter->name, &link))
		return false;
	link_without_addresses(link.peer);
	link_without_addresses((int)splitter->ifindex);
	return link_change(link.peer, &peer_change) && link_change((int)splitter->ifindex, &change);
}

static bool remove_splitter(const struct device *splitter)
{
	device_forget(splitter);
	tcx_detach(&splitter->key, TCX_SPLIT);
	if (!splitter->ifindex)
		return true;
	/* Whoever has seen the device in the map is done with it after this: all that runs
	 * under RCU on any CPU.
	 */
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		verbose("membarrier: %s", strerror(errno));
	return link_delete((int)splitter->ifindex);
}

/* ---- start, stop ----------------------------------------------------------------- */

/* Do GSO packets come to a program of ours before they come to somebody else's? 1, 0, or -errno,
 * which is reported.
 */
static int is_in_front(const struct registration *reg, const struct target *target)
{
	int others = tcx_has_others_before(reg, &target->key);

	return others > 0 ? tcx_look(reg, &target->key, TCX_SPLIT) : others ?: 1;
}

static bool come_in_front(const struct registration *reg, const struct target *target)
{
	int state = is_in_front(reg, target);

	return state ? state > 0 : tcx_attach(reg, &target->key, TCX_SPLIT);
}

static bool finish_splitter(const struct registration *reg, const struct target *target,
			    struct device *splitter)
{
	return attach_program(reg, splitter) && set_up(splitter) && come_in_front(reg, target) &&
	       device_enter(splitter);
}

static bool start_splitter(const struct registration *reg, const struct target *target,
			   const struct dualpi2_params *params)
{
	struct device splitter;
	int found, error = 0;

	if (!device_find(&splitter_kind, &target->key, &splitter))
		return false;
	found = splitter.entered ? has_program(reg, &splitter) : 0;
	/* With another AQM's program, or of an earlier run that was interrupted. */
	if (found < 0 || (!found && splitter.ifindex && !remove_splitter(&splitter)))
		return false;
	if (!found)
		error = device_make(&splitter, target->ifname, 0);
	if (error == -EOPNOTSUPP)
		return borrow(target, params);
	if (error)
		return false;
	if (finish_splitter(reg, target, &splitter))
		return setting_return(&target->key,
				      SETTING_NO_GSO); /* of a time without splitters */
	if (!found)
		remove_splitter(&splitter);
	return false;
}

bool gso_start(const struct registration *reg, const struct target *target,
	       const struct dualpi2_params *params)
{
	const enum way way = choose_way(target);

	if (way == WAY_SPLIT)
		return start_splitter(reg, target, params);
	return way == WAY_UNCHANGED || (way == WAY_BORROW && borrow(target, params));
}

static bool is_loopback(const struct target *target)
{
	struct link link;

	return link_look((int)target->key.ifindex, &link) > 0 && link.type == ARPHRD_LOOPBACK;
}

/* Why they are not split, where they should be. NULL: they are, or it cannot be told. */
static const char *why_whole(const struct target *target)
{
	switch (choose_way(target)) {
	case WAY_SPLIT:
		return "without CONFIG_NETKIT";
	case WAY_BORROW:
		return is_loopback(target) ? "on the loopback device" : "on a tunnel";
	default:
		return NULL;
	}
}

struct gso_outcome gso_outcome(const struct target *target, const struct dualpi2_params *params)
{
	struct gso_outcome outcome = {};
	struct link link;

	if (setting_is_borrowed(&target->key, SETTING_NO_GSO) > 0 &&
	    link_look((int)target->key.ifindex, &link) > 0) {
		outcome.why_whole = why_whole(target);
		outcome.max_segs = link.settings[LINK_GSO_MAX_SEGS];
	}
	outcome.is_split = params->split_above && choose_way(target) == WAY_SPLIT;
	return outcome;
}

bool gso_stop(const struct target *target)
{
	const struct dualpi2_key key = lender(target);
	struct device splitter;

	if ((!target->feeder && !device_find(&splitter_kind, &target->key, &splitter)) ||
	    !setting_return(&key, setting_of(target)))
		return false;
	return target->feeder || remove_splitter(&splitter);
}

static int splitter_works(const struct registration *reg, const struct target *target)
{
	struct device splitter;
	struct link link;
	int state;

	if (!device_find(&splitter_kind, &target->key, &splitter))
		return -EIO;
	if (!splitter.entered)
		return 0;
	state = link_look((int)splitter.ifindex, &link);
	if (state > 0 &&
	    (!link.running || link.settings[LINK_GSO_MAX_SEGS] != SPLITTER_GSO_MAX_SEGS))
		return 0;
	if (state > 0)
		state = has_program(reg, &splitter);
	return state > 0 ? is_in_front(reg, target) : state;
}

int gso_works(const struct registration *reg, const struct target *target)
{
	const struct dualpi2_key key = lender(target);
	const enum way way = choose_way(target);
	int state = way == WAY_SPLIT ? splitter_works(reg, target) : 0;

	if (way == WAY_UNCHANGED || way == WAY_UNKNOWN)
		return way == WAY_UNCHANGED ? 1 : -ENODEV;
	return state ?: setting_is_borrowed(&key, setting_of(target));
}

/* ---- check, sweep ------------------------------------------------------------------ */

static bool warn_whole(const struct target *target, const struct dualpi2_params *params)
{
	return report_line(REPORT_WARNING,
			   "GSO packets cannot be split %s: local senders are asked for %s, "
			   "forwarded ones wait whole",
			   why_whole(target),
			   params->split_above ? "short ones (gso_max_segs)"
					       : "none (gso_max_segs 1)");
}

static bool check_splitter(const struct target *target, const struct dualpi2_params *params)
{
	char which[GSO_TEXT_MAX];
	struct device splitter;
	int has_netkit;

	if (!device_find(&splitter_kind, &target->key, &splitter))
		return false;
	if (splitter.ifindex)
		return report_line(REPORT_OK, "%s splits GSO packets%s already", splitter.name,
				   gso_which(params, which));
	has_netkit = link_kernel_has_netkit();
	if (has_netkit < 0)
		return false;
	if (has_netkit)
		return report_line(REPORT_OK, "a device made for it will split GSO packets%s",
				   gso_which(params, which));
	return warn_whole(target, params);
}

bool gso_check(const struct target *target, const struct dualpi2_params *params)
{
	const enum way way = choose_way(target);

	if (way == WAY_SPLIT)
		return check_splitter(target, params);
	if (way == WAY_BORROW)
		warn_whole(target, params);
	return way != WAY_UNKNOWN;
}

static void remove_left_over(const struct registrations *regs, const struct device *splitter,
			     const void *data)
{
	(void)regs;
	(void)data;
	remove_splitter(splitter);
}

void gso_sweep(const struct registrations *regs)
{
	devices_sweep(regs, &splitter_kind, 0, splitter_is_left_over, remove_left_over, NULL);
}

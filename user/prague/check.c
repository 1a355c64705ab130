// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <bpf/bpf.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "aqm/pi2.h"
#include "check/report.h"
#include "cli/privilege.h"
#include "kernel/link.h"
#include "kernel/netns.h"
#include "kernel/peer.h"
#include "kernel/running.h"
#include "pinned/pins.h"
#include "prague/commands.h"
#include "prague/own.h"
#include "prague/programs.h"
#include "prague/tcp_info.h"

#define SYSCTL "/proc/sys/net/ipv4/"
#define RACK 1 /* bit of net.ipv4.tcp_recovery */

#define PROBE_BYTES (256 << 10)

/* ---- this host --------------------------------------------------------------------------- */

static bool check_kernel(void)
{
	struct utsname kernel;

	uname(&kernel);
	if (!release_is_before(kernel.release, PRAGUE_KERNEL))
		return report_line(REPORT_OK, "Linux %.80s: Accurate ECN for a congestion control",
				   kernel.release);
	return report_line(REPORT_MISSING,
			   "Accurate ECN for a congestion control: Linux %.80s is too old: boot "
			   "6.18 or later (Debian trixie-backports has it)",
			   kernel.release);
}

static bool check_types(void)
{
	static const struct {
		const char *type, *what, *config;
	} needed[] = {
		{ "bpf_struct_ops_tcp_congestion_ops", "congestion controls in BPF",
		  "CONFIG_BPF_JIT=y" },
		{ "tcx_link", "BPF programs at tcx", "CONFIG_NET_XGRESS=y" },
	};
	bool passed = true;

	if (!kernel_types())
		return report_line(REPORT_MISSING,
				   "kernel type information (BTF): %s: take a kernel with "
				   "CONFIG_DEBUG_INFO_BTF=y",
				   strerror(errno));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		passed &= kernel_has_struct(needed[i].type) > 0
				  ? report_line(REPORT_OK, "%s", needed[i].what)
				  : report_line(REPORT_MISSING, "%s: take a kernel with %s",
						needed[i].what, needed[i].config);
	}
	return passed;
}

static bool check_rights(void)
{
	char missing[128];

	if (privilege_suffices(PRIVILEGE_LOAD | PRIVILEGE_NET, missing, sizeof(missing)))
		return report_line(REPORT_OK, "rights to load BPF programs");
	return report_line(REPORT_HINT,
			   "rights to load BPF programs: %s missing: run and on need "
			   "them, or root",
			   missing);
}

/* `run` needs none. Rights that are missing have been reported. */
static void check_pins(void)
{
	char why[PINS_WHY_MAX];
	int found = pins_may_be_made(why);

	if (found <= 0 && found != -EACCES)
		report_line(REPORT_WARNING, "pins: %s; `on` and `off` need them", why);
}

static bool read_number(const char *name, unsigned int *value)
{
	char path[128];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), SYSCTL "%s", name);
	file = fopen(path, "re");
	read = file && fscanf(file, "%u", value) == 1;
	if (file)
		fclose(file);
	return read || (report_line(REPORT_HINT, "net.ipv4.%s: cannot be read", name), false);
}

static void check_sysctls(void)
{
	unsigned int value;

	if (read_number("tcp_recovery", &value)) {
		if (value & RACK)
			report_line(REPORT_OK, "loss is detected by time (RACK)");
		else
			report_line(
				REPORT_WARNING,
				"loss is not detected by time: `sysctl net.ipv4.tcp_recovery=1` "
				"(RFC 9331, 4.3, item 6)");
	}
	if (read_number("tcp_tso_rtt_log", &value) && value)
		report_line(REPORT_HINT,
			    "where the RTT is below 3 ms TCP sends bursts of up to 64 kB: "
			    "`sysctl net.ipv4.tcp_tso_rtt_log=0` ends that");
}

/* Not for a queue in another network namespace, nor for incoming traffic. */
static bool is_for_what_we_send(const struct dualpi2_key *key, struct link *link)
{
	return key->netns == netns_current() && link_look((int)key->ifindex, link) > 0 &&
	       strcmp(link->kind, IFB_KIND) != 0;
}

/* A bpf_dualpi2 at the sender itself never sees its Classic flows wait for the target. */
static bool target_fits(const struct dualpi2_key *key, const struct dualpi2_stats *stats)
{
	const __u64 target_ns = aqm_own(&stats->params)->target_ns;
	struct link link;

	if (target_ns <= PRAGUE_LOCAL_TARGET_NS || !is_for_what_we_send(key, &link))
		return true;
	report_line(REPORT_WARNING,
		    "%s has bpf_dualpi2 with a target of %llu us: TCP's own limit keeps what "
		    "this host sends below that, and L4S gets more than its share: "
		    "`dualpi2-load %s --target 2ms`, if the traffic is this host's own",
		    link.name, target_ns / DUALPI2_NSEC_PER_USEC, link.name);
	return false;
}

static bool is_among(__u32 ifindex, const __u32 *list, size_t count)
{
	while (count && list[count - 1] != ifindex)
		count--;
	return count;
}

/* Of what everybody may read of bpf_dualpi2: of an interface with several queues, one. Only PI2 has
 * a target.
 */
static void check_qdiscs(void)
{
	struct dualpi2_key key, *previous = NULL;
	__u32 warned[DUALPI2_MAX_INSTANCES]; /* numbers of interfaces */
	size_t count = 0;
	static const struct object_shape shape = {
		.type = BPF_MAP_TYPE_HASH,
		.key_size = sizeof(struct dualpi2_key),
		.value_size = sizeof(struct dualpi2_stats),
	};
	struct dualpi2_stats stats;
	int map = pin_open_public(AQM_NAME, "dualpi2_stats", &shape);

	if (map < 0)
		return;
	for (int i = 0; i < DUALPI2_MAX_INSTANCES; i++) {
		if (bpf_map_get_next_key(map, previous, &key))
			break;
		previous = &key;
		if (!bpf_map_lookup_elem(map, &key, &stats) &&
		    !is_among(key.ifindex, warned, count) && !target_fits(&key, &stats))
			warned[count++] = key.ifindex;
	}
	close(map);
}

static bool check_host(void)
{
	bool passed = check_kernel();

	passed &= check_types();
	passed &= check_rights();
	check_pins();
	check_sysctls();
	check_qdiscs();
	return passed;
}

/* ---- the way to a peer ------------------------------------------------------------------- */

/* Does a sink answer? Then send it something. */
static bool probe(int fd)
{
	static const char nothing[1 << 14];
	char greeting[sizeof(SINK_GREETING)];
	ssize_t got = recv(fd, greeting, sizeof(SINK_GREETING) - 1, MSG_WAITALL);

	if (got != sizeof(SINK_GREETING) - 1 || memcmp(greeting, SINK_GREETING, (size_t)got))
		return false;
	for (size_t sent = 0; sent < PROBE_BYTES; sent += sizeof(nothing))
		if (send(fd, nothing, sizeof(nothing), MSG_NOSIGNAL) < 0)
			return false;
	/* The sink closes when it has all: then all is acknowledged, and counted. */
	shutdown(fd, SHUT_WR);
	return recv(fd, greeting, 1, 0) == 0;
}

static bool show_arrival(const struct ecn_info *info)
{
	if (!info->has_counters)
		return report_line(REPORT_HINT, "this kernel does not count what arrived: Linux "
						"6.18 or later does");
	if (info->sent_ce)
		report_line(REPORT_OK, "CE arrived for %u bytes: a queue on the way marks",
			    info->sent_ce);
	if (info->sent_ect0)
		return report_line(
			REPORT_MISSING,
			"ECT(0) arrived for %u bytes: something on the way rewrites "
			"ECT(1), or no tcx program sees this device (`tcp-prague status`)",
			info->sent_ect0);
	if (info->sent_ect1)
		report_line(REPORT_OK, "ECT(1) arrives: %u bytes", info->sent_ect1);
	if (info->sent_ect1 || info->sent_ce)
		return true;
	return report_line(
		REPORT_MISSING,
		"neither ECT(1) nor CE arrived: the peer has no Accurate ECN, or something "
		"on the way clears the ECN field");
}

#define PEER_NEEDS                                                                      \
	"the peer needs Accurate ECN (Linux: `sysctl net.ipv4.tcp_ecn=3` from 7.0 on, " \
	"or `tcp-prague on` there)"

/* Of a connection whose end here has asked for Accurate ECN. */
static bool check_connection(int fd, const char *peer)
{
	struct ecn_info info;

	if (!ecn_info_read(fd, &info))
		return report_line(REPORT_MISSING, "%s: TCP_INFO cannot be read: %s", peer,
				   strerror(errno));
	if (!info.has_ecn)
		return report_line(REPORT_MISSING, "%s: no ECN: " PEER_NEEDS, peer);
	if (info.mode == ECN_RFC3168)
		return report_line(REPORT_MISSING, "%s: only the ECN of RFC 3168: " PEER_NEEDS,
				   peer);
	report_line(REPORT_OK, "%s: negotiates ECN", peer);
	if (!probe(fd))
		return report_line(REPORT_HINT,
				   "run `tcp-prague sink` at the peer to see what arrives there");
	return ecn_info_read(fd, &info) && show_arrival(&info);
}

/* A connection with this congestion control, or -1 with errno. */
static int connect_to(const struct addrinfo *addresses, const char *congestion)
{
	int fd = -1;

	for (const struct addrinfo *one = addresses; one && fd < 0; one = one->ai_next)
		fd = peer_connect(one, congestion);
	return fd;
}

static bool report_no_connection(const char *peer)
{
	return report_line(REPORT_MISSING, "%s: cannot connect: %s", peer, strerror(errno));
}

/* By a Prague of our own, which ends with us. */
static bool check_with_own(const struct addrinfo *addresses, const char *peer)
{
	const struct prague_config config = {};
	char tag[OWN_TAG_MAX], name[PRAGUE_NAME_MAX];
	struct programs programs = PROGRAMS_NONE;
	bool passed = false;
	int fd = -1;

	if (!own_tag(tag) && own_prague(tag, NULL, &config, name, &programs)) {
		fd = connect_to(addresses, name);
		passed = fd < 0 ? report_no_connection(peer) : check_connection(fd, peer);
	}
	if (fd >= 0)
		close(fd);
	if (programs.registration >= 0)
		programs_retire(&programs);
	return passed;
}

/* Of a connection that does not use Prague: there is none, or it has just fallen back. */
static bool check_without(const struct addrinfo *addresses, const char *peer)
{
	char missing[128];

	if (privilege_suffices(PRIVILEGE_LOAD | PRIVILEGE_NET, missing, sizeof(missing)))
		return check_with_own(addresses, peer);
	return report_line(REPORT_MISSING,
			   "%s: not tested: there is no Prague to try it with, and %s missing to "
			   "load one: run it %s, or `tcp-prague run -- tcp-prague check %s`",
			   peer, missing, privilege_as_root(PRIVILEGE_LOAD | PRIVILEGE_NET), peer);
}

/* The connection uses Prague if `tcp-prague on` is at work, or if we are in a `tcp-prague run`. */
static bool check_peer(const struct addrinfo *addresses, const char *peer)
{
	int fd = connect_to(addresses, PRAGUE_NAME);
	bool passed;

	if (fd < 0)
		return report_no_connection(peer);
	passed = socket_is_prague(fd) ? check_connection(fd, peer) : check_without(addresses, peer);
	close(fd);
	return passed;
}

bool prague_check(const char *peer)
{
	const char *why = NULL;
	/* First: to look for pins may lead out of `ip netns exec`, which has name servers of its
	 * own (bpffs_find()).
	 */
	struct addrinfo *addresses = peer ? peer_addresses(peer, SINK_PORT, &why) : NULL;
	bool passed = check_host();

	if (!passed && peer)
		report_line(REPORT_MISSING, "%s: not tested, for this host cannot send L4S", peer);
	else if (peer && !addresses)
		passed = report_line(REPORT_MISSING, "%s: %s", peer, why);
	else if (peer)
		passed = check_peer(addresses, peer);
	if (addresses)
		freeaddrinfo(addresses);
	return passed;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of TCP Prague and tcp-prague share: the maps and what is in them. */
#ifndef DUALPI2_TCP_PRAGUE_H
#define DUALPI2_TCP_PRAGUE_H

#include "classic_ecn.h"
#include "prague.h"
#include "prague_network.h"

/* Changes whenever a layout or a meaning below does. */
#define PRAGUE_ABI 2

#define PRAGUE_NAME "prague"	     /* of the congestion control, as in the reference */
#define PRAGUE_FALLBACK "cubic"	     /* what a socket gets that cannot have it */
#define PRAGUE_NAME_MAX 16	     /* of any congestion control: TCP_CA_NAME_MAX */
#define PRAGUE_DESTINATIONS 1024     /* that are remembered for a Classic AQM */
#define PRAGUE_REMEMBERED_S 86400ULL /* for how long */

/* Of a bpf_dualpi2 on the host that sends, ns: the longest target that local Classic flows reach.
 * TCP small queues keep what they have in it short (docs/prague.md).
 */
#define PRAGUE_LOCAL_TARGET_NS 2000000ULL

/* How a socket responds to CE. */
enum prague_mode {
	PRAGUE_PENDING,	    /* the handshake goes on: as yet not at all */
	PRAGUE_SCALABLE,    /* as Prague; its packets are ECT(1) */
	PRAGUE_NOT_ECT1,    /* as Reno: not all of its packets were made ECT(1) */
	PRAGUE_CLASSIC_AQM, /* as Reno, with ECT(1): a Classic AQM marks */
	/* From here on none of its packets is made ECT(1): */
	PRAGUE_NO_ACCECN,  /* the peer, or the path, has no AccECN */
	PRAGUE_REMEMBERED, /* a Classic AQM was seen on the way to this destination, repeatedly */
	PRAGUE_RETIRED,	   /* tcp-prague off */
	PRAGUE_LEFT,	   /* the application chose another congestion control */
	N_PRAGUE_MODES,
};

/* Storage of a socket that is, or was, Prague's. */
struct prague_socket {
	struct prague cc;
	struct classic_ecn classic;
	__u32 stamp;	    /* tcp_sock.segs_out as the last packet passed prague_ect1 */
	__u32 delivered_ce; /* tcp_sock.delivered_ce that have been responded to */
	__u32 next_seq;	    /* the virtual RTT lasts at least until this is acknowledged */
	__u32 missed_seq;   /* what was sent before this may have missed prague_ect1 */
	__u32 lost_seq;	    /* for losses of what was sent before this is responded to */
	__u16 mode;	    /* enum prague_mode */
	__u8 is_set_up;	    /* the window has been taken over from the socket */
	__u8 is_locked;	    /* the kernel refused the fallback (a route with `congctl lock`) */
};

/* What may be changed while it runs: the only element of prague_config. */
struct prague_config {
	__u8 retire; /* sockets fall back at their next ACK */
	__u8 no_classic_detection;
	__u8 reserved[6];
};

struct prague_sighting {
	__u64 seen_s; /* CLOCK_BOOTTIME */
	__u32 times;
	__u32 reserved;
};

/* What the iterator tells of a socket. */
struct prague_report {
	__u64 netns;	   /* cookie of its network namespace */
	__u64 pacing_rate; /* bytes/s */
	__u64 window;	   /* 2^-20 packets */
	__u32 source[4];   /* addresses, in network byte order; IPv4: the first word */
	__u32 destination[4];
	__u16 source_port, destination_port;
	__u16 family;
	__u16 mode; /* enum prague_mode */
	__u32 srtt_us;
	__u32 cwnd;		       /* packets */
	__u32 alpha;		       /* 2^-32 */
	__u32 delivered, delivered_ce; /* packets */
	__u32 classic_score;	       /* 2^-16, 0 to 17 */
	__u8 accecn;		       /* negotiated */
	__u8 rfc3168;		       /* negotiated in its place */
	__u8 is_locked;
	__u8 reserved[5];
};

/* ---- whom it is for (opt_in.bpf.c) --------------------------------------------------- */

#define PRAGUE_PREFIXES 256 /* of --to, and of --not-to */

#endif /* DUALPI2_TCP_PRAGUE_H */

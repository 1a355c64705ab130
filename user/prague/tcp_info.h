/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ECN of a connection, as the kernel shows it (TCP_INFO). */
#ifndef TCP_INFO_H
#define TCP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#define SINK_PORT "5009"
#define SINK_GREETING "tcp-prague sink\n"

/* The kind of ECN that was negotiated: tcpi_ecn_mode of include/uapi/linux/tcp.h. */
enum ecn_mode { ECN_UNKNOWN, ECN_RFC3168, ECN_ACCURATE, ECN_PENDING };

struct ecn_info {
	bool has_ecn;	    /* negotiated, of whatever kind */
	enum ecn_mode mode; /* ECN_UNKNOWN: none, or the kernel does not say (7.0 does) */
	bool has_counters;  /* the kernel has those below: from 6.18 on */
	/* Bytes that arrived as ECT(1), ECT(0), CE: at the peer, as it says by its AccECN option...
	 */
	uint32_t sent_ect1, sent_ect0, sent_ce;
	/* ... and here. */
	uint32_t received_ect1, received_ect0, received_ce;
};

/* False, with errno: the kernel does not tell. */
bool ecn_info_read(int fd, struct ecn_info *info);

/* Has it become Prague's? */
bool socket_is_prague(int fd);

#endif /* TCP_INFO_H */

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "prague/tcp_info.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "tcp_prague.h"

/* include/uapi/linux/tcp.h of 6.18, behind what the headers here may have. */
struct info {
	struct tcp_info common;
	char room[256];
};

/* struct tcp_info: seven counters behind tcpi_total_rto_time. */
#define ACCECN_OFFSET (offsetof(struct tcp_info, tcpi_total_rto_time) + sizeof(uint32_t))
enum { RECEIVED_CE, SENT_ECT1, SENT_ECT0, SENT_CE, BYTES_ECT1, BYTES_ECT0, BYTES_CE, N_ACCECN };

/* And of 7.0 behind them. */
struct mode {
	uint32_t ecn_mode : 2, rest : 30;
};

static enum ecn_mode mode_of(const char *behind)
{
	struct mode mode;

	memcpy(&mode, behind, sizeof(mode));
	return mode.ecn_mode == ECN_RFC3168 || mode.ecn_mode == ECN_ACCURATE
		       ? (enum ecn_mode)mode.ecn_mode
		       : ECN_UNKNOWN;
}

bool ecn_info_read(int fd, struct ecn_info *info)
{
	struct info raw = {};
	socklen_t size = sizeof(raw);
	uint32_t accecn[N_ACCECN] = {};

	*info = (struct ecn_info){};
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &raw, &size))
		return false;
	info->has_ecn = raw.common.tcpi_options & TCPI_OPT_ECN;
	info->has_counters = size >= ACCECN_OFFSET + sizeof(accecn);
	if (!info->has_counters)
		return true;
	if (size >= ACCECN_OFFSET + sizeof(accecn) + sizeof(struct mode))
		info->mode = mode_of((const char *)&raw + ACCECN_OFFSET + sizeof(accecn));
	memcpy(accecn, (const char *)&raw + ACCECN_OFFSET, sizeof(accecn));
	info->sent_ect1 = accecn[SENT_ECT1];
	info->sent_ect0 = accecn[SENT_ECT0];
	info->sent_ce = accecn[SENT_CE];
	info->received_ect1 = accecn[BYTES_ECT1];
	info->received_ect0 = accecn[BYTES_ECT0];
	info->received_ce = accecn[BYTES_CE];
	return true;
}

void socket_ask_for_prague(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, PRAGUE_NAME, strlen(PRAGUE_NAME));
}

bool socket_is_prague(int fd)
{
	char name[PRAGUE_NAME_MAX] = "";
	socklen_t size = sizeof(name);

	/* That of `tcp-prague run` has a number behind it. */
	return !getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) &&
	       !strncmp(name, PRAGUE_NAME, strlen(PRAGUE_NAME));
}

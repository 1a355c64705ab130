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

/* struct tcp_info: seven counters behind tcpi_total_rto_time, and with 7.0 one word more. */
#define ACCECN_OFFSET (offsetof(struct tcp_info, tcpi_total_rto_time) + sizeof(uint32_t))
enum { RECEIVED_CE, SENT_ECT1, SENT_ECT0, SENT_CE, BYTES_ECT1, BYTES_ECT0, BYTES_CE, N_ACCECN };

struct accecn {
	uint32_t count[N_ACCECN];
	uint32_t mode : 2, rest : 30; /* 0 where the kernel has none */
};

bool ecn_info_read(int fd, struct ecn_info *info)
{
	struct info raw = {};
	socklen_t size = sizeof(raw);
	struct accecn accecn;

	*info = (struct ecn_info){};
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &raw, &size))
		return false;
	info->has_ecn = raw.common.tcpi_options & TCPI_OPT_ECN;
	info->has_counters = size >= ACCECN_OFFSET + sizeof(accecn.count);
	if (!info->has_counters)
		return true;
	memcpy(&accecn, (const char *)&raw + ACCECN_OFFSET, sizeof(accecn));
	info->mode = accecn.mode;
	info->sent_ect1 = accecn.count[SENT_ECT1];
	info->sent_ect0 = accecn.count[SENT_ECT0];
	info->sent_ce = accecn.count[SENT_CE];
	info->received_ect1 = accecn.count[BYTES_ECT1];
	info->received_ect0 = accecn.count[BYTES_ECT0];
	info->received_ce = accecn.count[BYTES_CE];
	return true;
}

bool socket_is_prague(int fd)
{
	char name[PRAGUE_NAME_MAX] = "";
	socklen_t size = sizeof(name);

	/* The name of a Prague of `tcp-prague run` has a tag behind it. */
	return !getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size) &&
	       !strncmp(name, PRAGUE_NAME, strlen(PRAGUE_NAME));
}

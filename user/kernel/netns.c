// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/netns.h"

#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/message.h"

__u64 netns_current(void)
{
	static __u64 here; /* we stay in it */
	socklen_t size = sizeof(here);
	int fd;

	if (here)
		return here;
	/* Of the one family that the systemd units allow. */
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &here, &size))
		fail(errno, "cannot look at the network namespace: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return here;
}

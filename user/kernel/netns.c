// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/netns.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/message.h"
#include "find_netns.h"

#define OWN_NETNS "/proc/self/ns/net"
#define FIRST_PID_NAMESPACE 0xEFFFFFFC /* PID_NS_INIT_INO, include/uapi/linux/nsfs.h of 6.18 */
#define NSFS_ROOT (-10003)	       /* FD_NSFS_ROOT, include/uapi/linux/fcntl.h of 6.18 */

__u64 netns_cookie(void)
{
	__u64 cookie = 0;
	socklen_t size = sizeof(cookie);
	int fd;

	/* Of the one family that the systemd units allow. */
	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size))
		fail(errno, "cannot look at the network namespace: %s", strerror(errno));
	if (fd >= 0)
		close(fd);
	return cookie;
}

__u64 netns_current(void)
{
	static __u64 here;

	if (!here)
		here = netns_cookie();
	return here;
}

/* Go to the one that `fd` is open for, and close it. -1: it is not, for errno. 0, or -errno. */
static int enter(int fd)
{
	int error = fd < 0 || setns(fd, CLONE_NEWNET) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

int netns_enter(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : NETNS_DIR "/", name);
	return enter(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)); /* it may be a FIFO */
}

int netns_handle(struct netns_handle *handle)
{
	int mount;

	*handle = (struct netns_handle){ .size = NETNS_HANDLE_BYTES };
	return name_to_handle_at(AT_FDCWD, OWN_NETNS, (struct file_handle *)handle, &mount,
				 AT_SYMLINK_FOLLOW)
		       ? -errno
		       : 0;
}

bool netns_handles_open_here(void)
{
	struct stat ns;

	return !stat("/proc/self/ns/pid", &ns) && ns.st_ino == FIRST_PID_NAMESPACE;
}

int netns_enter_handle(const struct netns_handle *handle)
{
	struct netns_handle copy = *handle;

	return enter(
		open_by_handle_at(NSFS_ROOT, (struct file_handle *)&copy, O_RDONLY | O_CLOEXEC));
}

int netns_has_ended(int find, __u64 cookie)
{
	const __u64 frame[8] = { cookie }; /* as short as a test run takes */
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame));
	int error = bpf_prog_test_run_opts(find, &opts);

	if (error)
		return error;
	return opts.retval == NETNS_UNKNOWN ? -E2BIG : opts.retval == NETNS_NONE;
}

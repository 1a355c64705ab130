// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/sys/net is that of the network namespace of the thread that opens a file there
 * (net/sysctl_net.c); the open file stays that of this namespace, whoever reads it.
 */
#include "kernel/default_qdisc.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/netns.h"

static int file = -1;
static int error; /* why it is not open */

static void open_here(void)
{
	file = open("/proc/sys/net/core/default_qdisc", O_RDONLY | O_CLOEXEC);
	error = file < 0 ? errno : 0;
}

/* A thread enters the namespace and ends there, so nothing can leave us in the wrong one. (A thread
 * cannot leave a mount namespace while another has the same root and working directory, so
 * bpffs_find() comes first.)
 */
static void *open_there(void *data)
{
	(void)data;
	error = -netns_enter("/proc/1/ns/net");
	if (!error)
		open_here();
	return NULL;
}

bool default_qdisc_open(void)
{
	pthread_t thread;

	open_here();
	if (error == ENOENT && !pthread_create(&thread, NULL, open_there, NULL))
		pthread_join(thread, NULL);
	if (error)
		verbose("cannot look for net.core.default_qdisc: %s", strerror(error));
	return !message_shortage(error) || fail(error, "cannot look for net.core.default_qdisc");
}

int default_qdisc_is(const char *kind)
{
	char value[64];
	ssize_t size = file < 0 ? -1 : pread(file, value, sizeof(value) - 1, 0);

	if (size <= 0)
		return -EBADF;
	value[size] = '\0';
	value[strcspn(value, "\n")] = '\0';
	return !strcmp(value, kind);
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What rtnetlink answers: the input is, after a byte that chooses the question, a row of
 * datagrams, each behind its length (two bytes). No socket is opened: the functions of libmnl
 * that would are here.
 */
#include "fuzz.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/pkt_sched.h>
#include <sanitizer/asan_interface.h>
#include <stdbool.h>

#include "interface/tree.h"
#include "kernel/link.h"
#include "kernel/qdisc.h"
#include "kernel/route.h"

static const uint8_t *answers, *answers_end;
static void *poisoned; /* the part of the reader's buffer that holds nothing */
static size_t poisoned_len;
static int the_socket;

static void unpoison(void)
{
	if (poisoned_len)
		ASAN_UNPOISON_MEMORY_REGION(poisoned, poisoned_len);
	poisoned_len = 0;
}

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	(void)bus;
	(void)flags;
	return (struct mnl_socket *)&the_socket;
}

int mnl_socket_bind(struct mnl_socket *socket, unsigned int groups, pid_t pid)
{
	(void)socket;
	(void)groups;
	(void)pid;
	return 0;
}

int mnl_socket_setsockopt(const struct mnl_socket *socket, int type, void *value, socklen_t len)
{
	(void)socket;
	(void)type;
	(void)value;
	(void)len;
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *socket, const void *data, size_t size)
{
	(void)socket;
	(void)data;
	return (ssize_t)size;
}

int mnl_socket_close(struct mnl_socket *socket)
{
	(void)socket;
	unpoison();
	return 0;
}

/* Bytes up to the first message of 2 GB or more: libmnl (1.0.5) takes such a length for a
 * negative one and walks off. What frames the messages is the kernel.
 */
static size_t framed(const uint8_t *data, size_t size)
{
	size_t used = 0;
	uint32_t len;

	while (size - used >= sizeof(struct nlmsghdr)) {
		memcpy(&len, data + used, sizeof(len));
		if (len > INT32_MAX)
			return used;
		if (len < sizeof(struct nlmsghdr) || MNL_ALIGN(len) > size - used)
			break;
		used += MNL_ALIGN(len);
	}
	return size;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *socket, void *buffer, size_t size)
{
	size_t len;

	(void)socket;
	unpoison();
	if (answers_end - answers < 2) {
		errno = EAGAIN;
		return -1;
	}
	len = answers[0] | answers[1] << 8;
	answers += 2;
	if (len > (size_t)(answers_end - answers))
		len = answers_end - answers;
	if (len > size)
		len = size;
	memcpy(buffer, answers, len);
	answers += len;
	len = framed(buffer, len);
	poisoned = (char *)buffer + len;
	poisoned_len = size - len;
	if (poisoned_len)
		ASAN_POISON_MEMORY_REGION(poisoned, poisoned_len);
	return (ssize_t)len;
}

static bool visit(const struct qdisc *qdisc, void *data)
{
	(void)data;
	ALWAYS(strnlen(qdisc->kind, sizeof(qdisc->kind)) < sizeof(qdisc->kind));
	ALWAYS(qdisc->options_len <= sizeof(qdisc->options));
	return true;
}

static void check_link(const struct link *link, void *data)
{
	(void)data;
	ALWAYS(strnlen(link->name, sizeof(link->name)) < sizeof(link->name));
	ALWAYS(strnlen(link->kind, sizeof(link->kind)) < sizeof(link->kind));
	ALWAYS(strnlen(link->alias, sizeof(link->alias)) < sizeof(link->alias));
}

static void ask_link(void)
{
	struct link link;

	if (link_look(1, &link) > 0)
		check_link(&link, NULL);
}

static void ask_root(void)
{
	char why[TREE_WHY_MAX];
	struct tree root = {};

	if (!tree_read(1, &root))
		return;
	tree_restorable(&root, why);
	tree_free(&root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct link_change change = { .up = true };

	if (!size)
		return 0;
	answers = data + 1;
	answers_end = data + size;
	switch (data[0] % 7) {
	case 0:
		qdisc_each(0, visit, NULL);
		break;
	case 1:
		ask_link();
		break;
	case 2:
		ask_root();
		break;
	case 3:
		qdisc_has_filters(1, 0);
		break;
	case 4:
		link_change(1, &change);
		break;
	case 5:
		link_each(NULL, check_link, NULL);
		break;
	case 6:
		route_has_default(1);
		break;
	}
	return 0;
}

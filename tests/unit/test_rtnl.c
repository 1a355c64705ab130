// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Dumps that the kernel interrupts (user/kernel/rtnl.c). No socket is opened: what would is here,
 * and answers with the dumps of a test, one for each request.
 */
#include "unit.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "kernel/rtnl.h"

/* A dump of the links 1 to `links`, all in a datagram, and its end in another. */
struct dump {
	int links;
	bool interrupted; /* as the first one says */
	int error;	  /* at its end */
	int signals;	  /* that come before the first one */
};

static const struct dump *dumps;
static int asked, datagram, signals;

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	static int socket;

	(void)bus;
	(void)flags;
	return (struct mnl_socket *)&socket;
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

int mnl_socket_close(struct mnl_socket *socket)
{
	(void)socket;
	return 0;
}

ssize_t mnl_socket_sendto(const struct mnl_socket *socket, const void *data, size_t size)
{
	(void)socket;
	(void)data;
	signals = dumps[asked++].signals;
	datagram = 0;
	return (ssize_t)size;
}

static struct nlmsghdr *put_message(void *buffer, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_MULTI | flags;
	return message;
}

static size_t put_links(char *buffer, const struct dump *dump)
{
	size_t used = 0;

	for (int i = 1; i <= dump->links; i++) {
		const bool is_interrupted = dump->interrupted && i == 1;
		struct nlmsghdr *message = put_message(buffer + used, RTM_NEWLINK,
						       is_interrupted ? NLM_F_DUMP_INTR : 0);
		struct ifinfomsg *info = mnl_nlmsg_put_extra_header(message, sizeof(*info));

		info->ifi_index = i;
		used += message->nlmsg_len;
	}
	return used;
}

static size_t put_end(char *buffer, const struct dump *dump)
{
	struct nlmsghdr *message = put_message(buffer, NLMSG_DONE, 0);
	int *error = mnl_nlmsg_put_extra_header(message, sizeof(*error));

	*error = -dump->error;
	return message->nlmsg_len;
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *socket, void *buffer, size_t size)
{
	const struct dump *dump = &dumps[asked - 1];

	(void)socket;
	(void)size;
	if (signals-- > 0) {
		errno = EINTR;
		return -1;
	}
	return (ssize_t)(datagram++ ? put_end(buffer, dump) : put_links(buffer, dump));
}

static int count(const struct nlmsghdr *message, void *data)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	int *seen = data;

	assert_int_equal(info->ifi_index, ++*seen);
	return MNL_CB_OK;
}

/* How many links were visited, each once and in their order. */
static int ask(const struct dump *answers, int *seen)
{
	struct rtnl_request request;

	dumps = answers;
	asked = 0;
	*seen = 0;
	rtnl_begin(&request, RTM_GETLINK, NLM_F_DUMP, sizeof(struct ifinfomsg));
	return rtnl_dump(&request, count, seen);
}

TEST(whole_dump)
{
	int seen;

	assert_int_equal(ask((const struct dump[]){ { .links = 3 } }, &seen), 0);
	assert_int_equal(seen, 3);
	assert_int_equal(asked, 1);
}

TEST(interrupted_dump_is_repeated)
{
	const struct dump answers[] = {
		{ .links = 3, .interrupted = true },
		{ .links = 2, .interrupted = true },
		{ .links = 4 },
	};
	int seen;

	assert_int_equal(ask(answers, &seen), 0);
	assert_int_equal(seen, 4);
	assert_int_equal(asked, 3);
}

TEST(dump_that_never_rests_is_unknown)
{
	struct dump answers[100];
	int seen;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++)
		answers[i] = (struct dump){ .links = 3, .interrupted = true };
	assert_int_equal(ask(answers, &seen), -EBUSY);
	assert_int_equal(seen, 0);
}

TEST(dump_that_ends_in_an_error_is_none)
{
	int seen;

	assert_int_equal(ask((const struct dump[]){ { .links = 3, .error = EMSGSIZE } }, &seen),
			 -EMSGSIZE);
	assert_int_equal(seen, 0);
	assert_int_equal(asked, 1);
}

TEST(signals_do_not_end_it)
{
	int seen;

	assert_int_equal(ask((const struct dump[]){ { .links = 3, .signals = 2 } }, &seen), 0);
	assert_int_equal(seen, 3);
	assert_int_equal(asked, 1);
}

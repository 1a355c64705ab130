// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/rtnl.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/message.h"

/* Of a dump that the kernel says is not of one state, because something was added or removed
 * meanwhile: one takes some milliseconds, and only a host that never rests interrupts them all.
 */
#define DUMP_TRIES 50

struct nlmsghdr *rtnl_message(struct rtnl_request *request)
{
	return (struct nlmsghdr *)(request->buffer + request->last);
}

static void *put_header(struct rtnl_request *request, uint16_t type, uint16_t flags, size_t size)
{
	struct nlmsghdr *message = mnl_nlmsg_put_header(rtnl_message(request));

	message->nlmsg_type = type;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	return mnl_nlmsg_put_extra_header(message, size);
}

void *rtnl_begin(struct rtnl_request *request, uint16_t type, uint16_t flags, size_t size)
{
	*request = (struct rtnl_request){ .protocol = NETLINK_ROUTE };
	return put_header(request, type, flags, size);
}

void *rtnl_next(struct rtnl_request *request, uint16_t type, uint16_t flags, size_t size)
{
	request->last += MNL_ALIGN(rtnl_message(request)->nlmsg_len);
	return put_header(request, type, flags, size);
}

static struct mnl_socket *open_socket(int protocol)
{
	struct mnl_socket *nl = mnl_socket_open2(protocol, SOCK_CLOEXEC);
	int on = 1;

	if (!nl)
		return NULL;
	if (mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		mnl_socket_close(nl);
		return NULL;
	}
	/* Best effort: without them we have just the errno. */
	mnl_socket_setsockopt(nl, NETLINK_EXT_ACK, &on, sizeof(on));
	on = 1;
	mnl_socket_setsockopt(nl, NETLINK_CAP_ACK, &on, sizeof(on));
	return nl;
}

const void *rtnl_header(const struct nlmsghdr *message, size_t size)
{
	if (mnl_nlmsg_get_payload_len(message) >= size)
		return mnl_nlmsg_get_payload(message);
	errno = EBADMSG;
	return NULL;
}

static void keep(const struct nlattr *attr, const struct nlattr **attrs, uint16_t max)
{
	if (mnl_attr_get_type(attr) <= max)
		attrs[mnl_attr_get_type(attr)] = attr;
}

void rtnl_attributes(const struct nlmsghdr *message, size_t size, const struct nlattr **attrs,
		     uint16_t max)
{
	const struct nlattr *attr;

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	mnl_attr_for_each(attr, message, size)
		keep(attr, attrs, max);
}

void rtnl_nested(const struct nlattr *nest, const struct nlattr **attrs, uint16_t max)
{
	const struct nlattr *attr;

	memset(attrs, 0, (max + 1) * sizeof(*attrs));
	if (!nest)
		return;
	mnl_attr_for_each_nested(attr, nest)
		keep(attr, attrs, max);
}

void rtnl_copy(const struct nlattr *attr, void *to, size_t size)
{
	size_t len = attr ? mnl_attr_get_payload_len(attr) : 0;

	memset(to, 0, size);
	if (attr)
		memcpy(to, mnl_attr_get_payload(attr), len < size ? len : size);
}

void rtnl_text(const struct nlattr *attr, void *text, size_t size)
{
	snprintf(text, size, "%.*s", attr ? (int)mnl_attr_get_payload_len(attr) : 0,
		 attr ? (const char *)mnl_attr_get_payload(attr) : "");
}

/* For the callbacks of one exchange. */
struct exchange {
	struct rtnl_request *request;
	mnl_cb_t on_message; /* may be NULL */
	void *data;	     /* for on_message */
};

static int on_error(const struct nlmsghdr *message, void *data)
{
	const struct nlmsgerr *answer = rtnl_header(message, sizeof(*answer));
	const struct nlattr *attrs[NLMSGERR_ATTR_MAX + 1];
	const struct exchange *exchange = data;
	struct rtnl_request *request = exchange->request;

	if (!answer)
		return MNL_CB_ERROR;
	if (!answer->error)
		return MNL_CB_STOP;
	if (message->nlmsg_flags & NLM_F_ACK_TLVS) {
		rtnl_attributes(message, sizeof(*answer), attrs, NLMSGERR_ATTR_MAX);
		rtnl_text(attrs[NLMSGERR_ATTR_MSG], request->refusal, sizeof(request->refusal));
	}
	errno = answer->error > INT_MIN ? -answer->error : EBADMSG;
	return MNL_CB_ERROR;
}

/* The end of a dump, with an error if the kernel could not go on (netlink_dump() of
 * net/netlink/af_netlink.c).
 */
static int on_done(const struct nlmsghdr *message, void *data)
{
	const int *error = rtnl_header(message, sizeof(*error));

	(void)data;
	if (!error || *error >= 0)
		return MNL_CB_STOP;
	errno = *error > INT_MIN ? -*error : EBADMSG;
	return MNL_CB_ERROR;
}

static int on_answer(const struct nlmsghdr *message, void *data)
{
	const struct exchange *exchange = data;

	return exchange->on_message ? exchange->on_message(message, exchange->data) : MNL_CB_OK;
}

/* A signal ends the wait for an answer, not the answer. */
static ssize_t receive_datagram(struct mnl_socket *nl, char *buffer)
{
	ssize_t len;

	do {
		len = mnl_socket_recvfrom(nl, buffer, MNL_SOCKET_DUMP_SIZE);
	} while (len < 0 && errno == EINTR);
	return len;
}

static int receive(struct mnl_socket *nl, struct exchange *exchange)
{
	mnl_cb_t control[] = { [NLMSG_ERROR] = on_error, [NLMSG_DONE] = on_done };
	char *buffer = malloc(MNL_SOCKET_DUMP_SIZE);
	ssize_t len;
	int result = MNL_CB_ERROR;

	if (!buffer)
		return MNL_CB_ERROR;
	do {
		len = receive_datagram(nl, buffer);
		if (len <= 0) {
			result = MNL_CB_ERROR;
			break;
		}
		result = mnl_cb_run2(buffer, len, 0, 0, on_answer, exchange, control,
				     MNL_ARRAY_SIZE(control));
	} while (result > MNL_CB_STOP);
	free(buffer);
	return result;
}

int rtnl_talk(struct rtnl_request *request, mnl_cb_t on_message, void *data)
{
	struct exchange exchange = { request, on_message, data };
	struct mnl_socket *nl = open_socket(request->protocol);
	int error = 0;

	if (!nl)
		return -errno;
	if (mnl_socket_sendto(nl, request->buffer,
			      request->last + rtnl_message(request)->nlmsg_len) < 0 ||
	    receive(nl, &exchange) < MNL_CB_STOP)
		error = errno ?: EIO;
	mnl_socket_close(nl);
	return -error;
}

/* ---- dumps ------------------------------------------------------------------------ */

/* The messages of a dump, one behind the other. */
struct collection {
	char *bytes;
	size_t used, size;
};

static int collect(const struct nlmsghdr *message, void *data)
{
	const size_t size = MNL_ALIGN(message->nlmsg_len);
	struct collection *all = data;
	char *grown;

	if (all->size - all->used < size) {
		grown = realloc(all->bytes, 2 * all->size + size);
		if (!grown)
			return MNL_CB_ERROR;
		all->bytes = grown;
		all->size = 2 * all->size + size;
	}
	/* The last message of a datagram may lack the bytes up to its alignment. */
	memset(all->bytes + all->used, 0, size);
	memcpy(all->bytes + all->used, message, message->nlmsg_len);
	all->used += size;
	return MNL_CB_OK;
}

static int visit_all(const struct collection *all, mnl_cb_t on_message, void *data)
{
	const struct nlmsghdr *message;

	for (size_t at = 0; at < all->used; at += MNL_ALIGN(message->nlmsg_len)) {
		message = (const struct nlmsghdr *)(all->bytes + at);
		if (on_message(message, data) < MNL_CB_STOP)
			return -errno;
	}
	return 0;
}

int rtnl_dump(struct rtnl_request *request, mnl_cb_t on_message, void *data)
{
	struct collection all = {};
	int error;

	/* libmnl answers NLM_F_DUMP_INTR with this error. */
	for (int tries = 0; tries < DUMP_TRIES; tries++) {
		all.used = 0;
		error = rtnl_talk(request, collect, &all);
		if (error != -EINTR)
			break;
	}
	if (!error)
		error = visit_all(&all, on_message, data);
	free(all.bytes);
	return error == -EINTR ? -EBUSY : error;
}

bool rtnl_accepted(const struct rtnl_request *request, int error, const char *what, ...)
{
	char text[64];
	va_list arguments;

	if (!error)
		return true;
	va_start(arguments, what);
	vsnprintf(text, sizeof(text), what, arguments);
	va_end(arguments);
	return fail(-error, "the kernel refuses to %s: %s", text,
		    request->refusal[0] ? request->refusal : strerror(-error));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Requests to rtnetlink, or another family of netlink, and their answers. */
#ifndef RTNL_H
#define RTNL_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request with its buffer: room for the payload of a qdisc's options and some
 * small attributes.
 */
#define RTNL_REQUEST_MAX 4608
struct rtnl_request {
	union {
		struct nlmsghdr header;
		char buffer[RTNL_REQUEST_MAX];
	};
	size_t last;	   /* where the last message begins: 0, unless rtnl_next() was called */
	int protocol;	   /* NETLINK_ROUTE, unless it is changed */
	char refusal[128]; /* what the kernel says when it refuses (NETLINK_EXT_ACK), or "" */
};

/* Start a request; returns its family's header (struct tcmsg, struct ifinfomsg) of
 * `size` bytes, zeroed.
 */
void *rtnl_begin(struct rtnl_request *request, uint16_t type, uint16_t flags, size_t size);

/* Another one behind it (NLM_F_ACK only in the last), which the kernel carries out in the same
 * system call: who is killed has asked for both or for none. The kernel goes on where the first one
 * fails, and the error is that of the first.
 */
void *rtnl_next(struct rtnl_request *request, uint16_t type, uint16_t flags, size_t size);

/* The message that is being written. */
struct nlmsghdr *rtnl_message(struct rtnl_request *request);

/* Send a request and read its answers: NLM_F_ACK must be set. 0, or -errno; reports nothing. */
int rtnl_talk(struct rtnl_request *request, mnl_cb_t on_message, void *data);

/* The same with NLM_F_DUMP. All of it is there before `on_message` sees any: a dump that was
 * interrupted is asked for again, and what is done on the way cannot interrupt it. -EBUSY: it was
 * interrupted each time.
 */
int rtnl_dump(struct rtnl_request *request, mnl_cb_t on_message, void *data);

/* Reading an answer, for a mnl_cb_t: nothing behind its end is read, whatever it says.
 *
 * rtnl_header(): its family's header of `size` bytes; NULL, with errno set, if it is shorter.
 * rtnl_attributes(): the attributes behind that header, by their type, 0 to `max`; NULL: not there.
 * rtnl_nested(): the same of those in an attribute. rtnl_copy(): the payload of an attribute as a
 * struct that may have grown or shrunk, or as a number. rtnl_text(): as text, cut to what `text`
 * can hold. An attribute that is not there (NULL) has none in it, is 0, and is "".
 */
const void *rtnl_header(const struct nlmsghdr *message, size_t size);
void rtnl_attributes(const struct nlmsghdr *message, size_t size, const struct nlattr **attrs,
		     uint16_t max);
void rtnl_nested(const struct nlattr *nest, const struct nlattr **attrs, uint16_t max);
void rtnl_copy(const struct nlattr *attr, void *to, size_t size);
void rtnl_text(const struct nlattr *attr, void *text, size_t size);

/* Was a request carried out, by what rtnl_talk() answered (`error`)? A failure is reported: "the
 * kernel refuses to WHAT: why", in the kernel's words if it has some, `what` and what follows as
 * for printf().
 */
bool rtnl_accepted(const struct rtnl_request *request, int error, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* RTNL_H */

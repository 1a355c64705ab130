// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "kernel/qdisc.h"

#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "kernel/rtnl.h"

static struct tcmsg *put_place(struct tcmsg *tc, int ifindex, uint32_t parent)
{
	tc->tcm_ifindex = ifindex;
	tc->tcm_parent = parent;
	return tc;
}

static struct tcmsg *begin(struct rtnl_request *request, uint16_t type, uint16_t flags, int ifindex,
			   uint32_t parent)
{
	return put_place(rtnl_begin(request, type, flags, sizeof(struct tcmsg)), ifindex, parent);
}

static void read_statistics(const struct nlattr *stats2, struct qdisc *qdisc)
{
	const struct nlattr *attrs[TCA_STATS_MAX + 1];
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	uint64_t packets64; /* left out where it fits `basic` */

	rtnl_nested(stats2, attrs, TCA_STATS_MAX);
	rtnl_copy(attrs[TCA_STATS_BASIC], &basic, sizeof(basic));
	rtnl_copy(attrs[TCA_STATS_PKT64], &packets64, sizeof(packets64));
	rtnl_copy(attrs[TCA_STATS_QUEUE], &queue, sizeof(queue));
	qdisc->has_estimator = attrs[TCA_STATS_RATE_EST]; /* only of one that has it */
	qdisc->counters = (struct qdisc_counters){
		.bytes = basic.bytes,
		.packets = packets64 ?: basic.packets,
		.drops = queue.drops,
		.overlimits = queue.overlimits,
		.requeues = queue.requeues,
		.backlog = queue.backlog,
		.qlen = queue.qlen,
	};
}

static void read_options(const struct nlattr *attr, struct qdisc *qdisc)
{
	size_t len = mnl_attr_get_payload_len(attr);

	qdisc->options_cut = len > sizeof(qdisc->options);
	qdisc->options_len = qdisc->options_cut ? sizeof(qdisc->options) : len;
	memcpy(qdisc->options, mnl_attr_get_payload(attr), qdisc->options_len);
}

struct dump {
	int ifindex; /* 0: all */
	bool (*visit)(const struct qdisc *qdisc, void *data);
	void *data;
	bool found;
};

static int on_qdisc(const struct nlmsghdr *message, void *data)
{
	const struct tcmsg *tc = rtnl_header(message, sizeof(*tc));
	const struct nlattr *attrs[TCA_MAX + 1], *stab[TCA_STAB_MAX + 1];
	struct dump *dump = data;
	struct qdisc qdisc;

	if (!tc)
		return MNL_CB_ERROR;
	if (dump->ifindex && dump->ifindex != tc->tcm_ifindex)
		return MNL_CB_OK;
	rtnl_attributes(message, sizeof(*tc), attrs, TCA_MAX);
	rtnl_nested(attrs[TCA_STAB], stab, TCA_STAB_MAX);
	qdisc = (struct qdisc){
		.ifindex = tc->tcm_ifindex,
		.handle = tc->tcm_handle,
		.parent = tc->tcm_parent,
		.refcnt = tc->tcm_info,
		.has_size_table = attrs[TCA_STAB],
		.has_filter_block = attrs[TCA_INGRESS_BLOCK] || attrs[TCA_EGRESS_BLOCK],
	};
	rtnl_text(attrs[TCA_KIND], qdisc.kind, sizeof(qdisc.kind));
	rtnl_copy(stab[TCA_STAB_BASE], &qdisc.size_table, sizeof(qdisc.size_table));
	if (attrs[TCA_OPTIONS])
		read_options(attrs[TCA_OPTIONS], &qdisc);
	read_statistics(attrs[TCA_STATS2], &qdisc);
	dump->found |= dump->visit(&qdisc, dump->data);
	return MNL_CB_OK;
}

int qdisc_each(int ifindex, bool (*visit)(const struct qdisc *qdisc, void *data), void *data)
{
	struct dump dump = { .ifindex = ifindex, .visit = visit, .data = data };
	struct rtnl_request request;

	begin(&request, RTM_GETQDISC, NLM_F_DUMP, 0, 0);
	return expect_known(rtnl_dump(&request, on_qdisc, &dump) ?: dump.found, "the qdiscs");
}

static bool copy_qdisc(const struct qdisc *qdisc, void *copy)
{
	*(struct qdisc *)copy = *qdisc;
	return true;
}

/* Ask for the qdisc in a place: see qdisc_below(). */
static int ask(int ifindex, uint32_t parent, struct qdisc *qdisc)
{
	struct dump dump = { .ifindex = ifindex, .visit = copy_qdisc, .data = qdisc };
	struct rtnl_request request;
	int error;

	*qdisc = (struct qdisc){};
	/* The answer is a notification, which the asker gets by NLM_F_ECHO only. */
	begin(&request, RTM_GETQDISC, NLM_F_ACK | NLM_F_ECHO, ifindex, parent);
	error = rtnl_talk(&request, on_qdisc, &dump);
	/* For noop_qdisc qdisc_get_notify() of net/sched/sch_api.c sends no answer. */
	return error ?: qdisc->kind[0] != '\0';
}

bool qdisc_root(int ifindex, struct qdisc *root)
{
	int found = ask(ifindex, TC_H_ROOT, root);

	return found == -ENODEV ||
	       expect_known(found, "the root qdisc of interface %d", ifindex) >= 0;
}

int qdisc_below(int ifindex, uint32_t parent, struct qdisc *qdisc)
{
	return ask(ifindex, parent, qdisc);
}

/* Children without a handle come and go with their parent. */
static bool is_child_to_keep(const struct qdisc *qdisc, void *data)
{
	const struct qdisc *parent = data;

	return qdisc->handle && qdisc->parent != TC_H_ROOT &&
	       TC_H_MAJ(qdisc->parent) == TC_H_MAJ(parent->handle);
}

static int on_filter(const struct nlmsghdr *message, void *data)
{
	(void)message;
	*(bool *)data = true;
	return MNL_CB_OK;
}

int qdisc_has_filters(int ifindex, uint32_t parent)
{
	struct rtnl_request request;
	bool has_filters = false;

	begin(&request, RTM_GETTFILTER, NLM_F_DUMP, ifindex, parent);
	return expect_known(rtnl_dump(&request, on_filter, &has_filters) ?: has_filters,
			    "the filters of the interface");
}

int qdisc_has_parts(const struct qdisc *qdisc)
{
	return qdisc_each(qdisc->ifindex, is_child_to_keep, (void *)qdisc)
		       ?: qdisc_has_filters(qdisc->ifindex, qdisc->handle);
}

/* ---- make one -------------------------------------------------------------------- */

/* include/uapi/linux/pkt_sched.h, since Linux 6.17 */
#define TCA_DUALPI2_ALPHA 5
#define TCA_DUALPI2_BETA 6

/* Values that the kernel keeps in other units than it shows, rounded down both ways: times in 1024
 * ns (codel_time_t of include/net/codel.h), gains (dualpi2_scale_alpha_beta() of
 * net/sched/sch_dualpi2.c). One more than it shows is again what it keeps.
 */
static const struct {
	const char *kind;
	uint16_t attribute;
} rounded[] = {
	{ "codel", TCA_CODEL_TARGET },	       { "codel", TCA_CODEL_INTERVAL },
	{ "codel", TCA_CODEL_CE_THRESHOLD },   { "dualpi2", TCA_DUALPI2_ALPHA },
	{ "dualpi2", TCA_DUALPI2_BETA },       { "fq_codel", TCA_FQ_CODEL_TARGET },
	{ "fq_codel", TCA_FQ_CODEL_INTERVAL }, { "fq_codel", TCA_FQ_CODEL_CE_THRESHOLD },
};

static bool is_rounded(const char *kind, const struct nlattr *attr)
{
	for (size_t i = 0; i < sizeof(rounded) / sizeof(rounded[0]); i++) {
		if (!strcmp(kind, rounded[i].kind) &&
		    mnl_attr_get_type(attr) == rounded[i].attribute)
			return mnl_attr_get_payload_len(attr) == sizeof(uint32_t);
	}
	return false;
}

static void undo_rounding(const char *kind, const struct nlattr *options)
{
	const struct nlattr *attr;
	uint32_t value;

	mnl_attr_for_each_nested(attr, options) {
		if (!is_rounded(kind, attr))
			continue;
		rtnl_copy(attr, &value, sizeof(value));
		value += value != 0;
		memcpy(mnl_attr_get_payload(attr), &value, sizeof(value));
	}
}

/* A limit that is given bounds the number of flows, and is bounded by it; the default is not
 * (sfq_change() of net/sched/sch_sfq.c). 0 leaves it at its default.
 */
#define SFQ_DEFAULT_LIMIT 127

static void leave_default_limit(const struct nlattr *options)
{
	struct tc_sfq_qopt *sfq = mnl_attr_get_payload(options);

	if (mnl_attr_get_payload_len(options) >= sizeof(*sfq) && sfq->limit == SFQ_DEFAULT_LIMIT)
		sfq->limit = 0;
}

/* Put options from which the kernel makes those that were dumped. Some kinds want NLA_F_NESTED
 * (nla_parse_nested() of include/net/netlink.h), which not every dump has; none minds it.
 */
static void put_options(struct nlmsghdr *request, const struct qdisc *qdisc)
{
	const struct nlattr *options = mnl_nlmsg_get_payload_tail(request);

	mnl_attr_put(request, TCA_OPTIONS | NLA_F_NESTED, qdisc->options_len, qdisc->options);
	if (!strcmp(qdisc->kind, "sfq"))
		leave_default_limit(options);
	else
		undo_rounding(qdisc->kind, options);
}

static void put_size_table(struct nlmsghdr *request, const struct tc_sizespec *table)
{
	struct nlattr *stab = mnl_attr_nest_start(request, TCA_STAB);

	mnl_attr_put(request, TCA_STAB_BASE, sizeof(*table), table);
	mnl_attr_nest_end(request, stab);
}

static uint16_t create_flags(bool replace)
{
	return NLM_F_CREATE | (replace ? NLM_F_REPLACE : NLM_F_EXCL);
}

static void put_what(struct rtnl_request *request, const struct qdisc *qdisc)
{
	struct nlmsghdr *message = rtnl_message(request);

	mnl_attr_put_strz(message, TCA_KIND, qdisc->kind);
	if (qdisc->has_size_table)
		put_size_table(message, &qdisc->size_table);
	if (qdisc->options_len)
		put_options(message, qdisc);
}

static void put_qdisc(struct rtnl_request *request, uint16_t flags, int ifindex,
		      const struct qdisc *qdisc)
{
	begin(request, RTM_NEWQDISC, flags, ifindex, qdisc->parent)->tcm_handle = qdisc->handle;
	put_what(request, qdisc);
}

static int create(struct rtnl_request *request, int ifindex, const struct qdisc *qdisc,
		  bool replace)
{
	put_qdisc(request, NLM_F_ACK | create_flags(replace), ifindex, qdisc);
	return rtnl_talk(request, NULL, NULL);
}

bool qdisc_create(int ifindex, const struct qdisc *qdisc, bool replace)
{
	struct rtnl_request request;

	return rtnl_accepted(&request, create(&request, ifindex, qdisc, replace), "attach %s",
			     qdisc->kind);
}

bool qdisc_create_mq(int ifindex, const struct qdisc *mq, const char *kind, bool replace)
{
	struct rtnl_request request;
	struct tcmsg *tc;

	put_qdisc(&request, create_flags(replace), ifindex, mq);
	tc = rtnl_next(&request, RTM_NEWQDISC, NLM_F_ACK | create_flags(true), sizeof(*tc));
	put_place(tc, ifindex, TC_H_MAKE(mq->handle, 1));
	mnl_attr_put_strz(rtnl_message(&request), TCA_KIND, kind);
	return rtnl_accepted(&request, rtnl_talk(&request, NULL, NULL), "attach %s and %s",
			     mq->kind, kind);
}

bool qdisc_create_after(int ifindex, const struct qdisc *step, const struct qdisc *qdisc)
{
	struct rtnl_request request;
	struct tcmsg *tc;

	put_qdisc(&request, create_flags(true), ifindex, step);
	tc = rtnl_next(&request, RTM_NEWQDISC, NLM_F_ACK | create_flags(true), sizeof(*tc));
	put_place(tc, ifindex, qdisc->parent)->tcm_handle = qdisc->handle;
	put_what(&request, qdisc);
	return rtnl_accepted(&request, rtnl_talk(&request, NULL, NULL), "attach %s", qdisc->kind);
}

bool qdisc_delete(int ifindex)
{
	struct rtnl_request request;

	begin(&request, RTM_DELQDISC, NLM_F_ACK, ifindex, TC_H_ROOT);
	return rtnl_accepted(&request, rtnl_talk(&request, NULL, NULL), "remove the root qdisc");
}

/* ---- would it be the same? --------------------------------------------------------- */

const char *qdisc_hidden_part(const struct qdisc *qdisc)
{
	if (qdisc->has_size_table && qdisc->size_table.tsize)
		return "its size table (stab)"; /* only what it was computed from is shown */
	if (qdisc->has_estimator)
		return "its rate estimator (est)";
	if (qdisc->has_filter_block)
		return "its block of filters";
	if (qdisc->options_cut)
		return "its options (too long)";
	return NULL;
}

bool qdisc_is_same(const struct qdisc *one, const struct qdisc *other)
{
	return !strcmp(one->kind, other->kind) && one->handle == other->handle &&
	       one->has_size_table == other->has_size_table &&
	       !memcmp(&one->size_table, &other->size_table, sizeof(one->size_table)) &&
	       one->options_len == other->options_len &&
	       !memcmp(one->options, other->options, one->options_len);
}

#define LOOPBACK 1	/* ifindex of it in every network namespace */
#define OTHER_QDISC 255 /* an exit status that is no errno */

/* Exit status of the child that tries: 0: it is the same; OTHER_QDISC; or an errno: unknown. */
static int try_elsewhere(const struct qdisc *qdisc)
{
	struct rtnl_request request;
	struct qdisc made;
	int error;

	/* The rights to make a network namespace are those of a user namespace's owner. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET))
		return errno;
	error = create(&request, LOOPBACK, qdisc, true);
	if (error == -EPERM || message_shortage(-error))
		return -error;
	if (error)
		return OTHER_QDISC;
	error = ask(LOOPBACK, TC_H_ROOT, &made);
	if (error < 0)
		return -error;
	return qdisc_is_same(qdisc, &made) ? 0 : OTHER_QDISC;
}

int qdisc_comes_back(const struct qdisc *qdisc)
{
	int status = 0;
	pid_t child;

	if (!qdisc->options_len && !qdisc->has_size_table)
		return 1; /* as mq, which a loopback device cannot have */
	child = fork();
	if (child < 0)
		return -errno;
	if (!child)
		_exit(try_elsewhere(qdisc));
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (!WIFEXITED(status))
		return -ECHILD;
	if (WEXITSTATUS(status) == OTHER_QDISC)
		return 0;
	return WEXITSTATUS(status) ? -WEXITSTATUS(status) : 1;
}

const char *qdisc_text(const char *kind, uint32_t handle, uint32_t parent, char *text)
{
	int used = snprintf(text, QDISC_TEXT_MAX, "qdisc %s %x: ", kind, TC_H_MAJ(handle) >> 16);

	if (parent == TC_H_ROOT)
		snprintf(text + used, QDISC_TEXT_MAX - used, "root");
	else
		snprintf(text + used, QDISC_TEXT_MAX - used, "parent %x:%x", TC_H_MAJ(parent) >> 16,
			 TC_H_MIN(parent));
	return text;
}

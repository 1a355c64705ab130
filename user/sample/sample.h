/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures of live instances at one moment, and what happened between two. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <linux/pkt_sched.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aqm/aqm.h"
#include "check/passed_over.h"
#include "cli/clean.h"
#include "coupling.h"
#include "dualpi2.h"
#include "kernel/direction.h"
#include "kernel/qdisc.h"

/* What was counted and measured in a time. */
struct figures {
	__u64 taken_ns; /* when that ended, CLOCK_MONOTONIC */
	/* How long it was; 0: it began when the qdisc was attached. */
	__u64 span_ns;
	struct dualpi2_stats stats;
	struct dualpi2_delays delays;
};

/* What the guard has now, by its table of flows (convicts.h). */
struct guarded {
	bool is_known;	/* false: only the owner of the pins may look */
	__u32 convicts; /* flows that are out of L */
	__u64 worst;	/* highest blame of a flow, as a part of what is too much, percent */
};

/* Queues of an mq of ours that have another qdisc: what comes to them passes us by. */
struct strays {
	unsigned int count;
	uint32_t first; /* the class of the mq, and what is there */
	char kind[QDISC_KIND_MAX];
};

/* A qdisc, once, with its figures of two times. */
struct sample {
	const struct aqm *aqm;
	struct dualpi2_key key;
	/* The sum over the queues of an mq, as the kernel shows one for its root. Unless they share
	 * a link (sample_is_dualq()) only the counters, the memory and the parameters of its
	 * `stats` mean something.
	 */
	bool is_sum;
	/* Tells the qdisc from all others that were or will be in its place: when it started. Of a
	 * sum: the sum of those of its queues.
	 */
	__u64 identity;
	/* The interface whose packets pass, now, and which ones. */
	char ifname[IF_NAMESIZE];
	enum direction direction;
	char device[IF_NAMESIZE];     /* that has the qdisc: that interface, or its ifb */
	struct dualpi2_values values; /* now, of an AQM that has some (aqm.h) */
	struct guarded guarded;
	struct strays strays;		/* of a sum */
	struct qdisc_counters counters; /* of the kernel, as tc shows them */
	uint32_t refcnt;		/* of the qdisc, as tc shows it */
	int tcx_attached;		/* is the program that marks: 1, 0, or -errno: unknown */
	/* Of INGRESS: who sees no packet because of us (check/passed_over.h); "": nobody, as far as
	 * it can be seen.
	 */
	char passed_over[PASSED_OVER_MAX];
	struct figures total; /* since it was attached */
	/* Since the sample before (interval_since()); span_ns 0: that did not have it. */
	struct figures recent;
};

struct samples {
	/* Sorted by interface and direction, a sum before its queues; free() them. */
	struct sample *items;
	size_t count;
};

/* The name that an interface has now, or had when its qdisc started (`old_name`). */
const char *sample_ifname(unsigned int ifindex, const char *old_name, char name[IF_NAMESIZE]);

/* A name as it may be shown to a person. Writes to `text` (NAME_SHOWN_MAX bytes) and returns it. */
#define NAME_SHOWN_MAX CLEAN_MAX(IF_NAMESIZE)
const char *sample_name(const char *name, char *text);

/* The interface whose packets pass a device that has the qdisc, and which ones: `ifb` is that
 * device, or NULL. Writes its name to `ifname`.
 */
struct ifb;
enum direction sample_interface(const struct ifb *ifb, const char *device,
				char ifname[IF_NAMESIZE]);

/* "eth0"; "eth0, ingress"; of an mq "eth0, all queues" or "eth0, queue 8001:1". Writes to `text`
 * (PLACE_MAX bytes) and returns it.
 */
#define PLACE_MAX 96
const char *sample_place(const struct sample *sample, char *text);

/* Says it of a sample that has some, in `text` (STRAYS_TEXT_MAX bytes), and returns that. */
#define STRAYS_TEXT_MAX 256
const char *strays_text(const struct sample *sample, char *text);

/* Behind `dualpi2-load eth0`: says that this one is meant. */
static inline const char *sample_option(const struct sample *sample)
{
	return sample->direction == INGRESS ? " --ingress" : "";
}

/* Is it one DualQ: a qdisc, or all queues of an mq that share a link? Else it is the sum of several
 * DualQs, or one queue of a link.
 */
static inline bool sample_is_dualq(const struct sample *sample)
{
	if (sample->aqm->variant == AQM_MQ) /* one at a root, made by hand, is one, too */
		return sample->key.parent == TC_H_ROOT;
	return !sample->is_sum;
}

/* The sum of several DualQs? */
static inline bool sample_is_many(const struct sample *sample)
{
	return sample->is_sum && !sample_is_dualq(sample);
}

/* Of the qdisc, as it is shown. */
static inline const char *sample_kind(const struct sample *sample)
{
	return sample_is_many(sample) ? MQ_KIND : sample->aqm->kind;
}

/* What it shapes to, bit/s; 0: it does not. */
static inline double figures_rate(const struct figures *figures)
{
	return 8 * (double)figures->stats.params.rate;
}

/* Microseconds, the unit of both tc's output and ours for programs. */
static inline __u64 sample_us(__u64 ns)
{
	return (ns + DUALPI2_NSEC_PER_USEC / 2) / DUALPI2_NSEC_PER_USEC;
}

/* The parameters in force, with what stands for "auto" and "by a rule" in them: p_C that is
 * overload and the memory limit.
 */
struct dualpi2_params sample_params(const struct dualpi2_stats *stats);

/* A probability as it is kept, 2^-32 each, as a fraction of 1. */
static inline double sample_probability(__u32 kept)
{
	return (double)kept / PROB_MAX;
}

/* What can be asked of the delays of a queue's packets. */
enum delay {
	DELAY_MEAN,
	DELAY_P50,
	DELAY_P99,
	DELAY_P999,
	DELAY_HIGHEST,
};

/* In ns. False: there was no packet, and so no delay. */
bool sample_delay(const struct dualpi2_histogram *histogram, enum delay asked, __u64 *ns);

/* ---- intervals: what happened between two samples of a qdisc ------------------------- */

/* What is not counted, as the parameters and what is queued, is that of its end. False: these are
 * not two samples of one qdisc, the later one later.
 */
bool interval_between(const struct sample *earlier, const struct sample *later,
		      struct figures *interval);

/* The same of figures of one qdisc, with this AQM, since it was attached. */
void interval_subtract(const struct aqm *aqm, const struct figures *earlier,
		       const struct figures *later, struct figures *interval);

/* Set `recent` of each item of `later` that `earlier` has as well. */
void interval_since(const struct samples *earlier, struct samples *later);

/* The item of a list for the same place as `sample`; NULL: none. `place`: where it is in the list
 * if nothing has come or gone, so that many are found soon.
 */
const struct sample *interval_find(const struct samples *list, const struct sample *sample,
				   size_t place);

double interval_seconds(const struct figures *interval);

/* Of something that was counted in the interval: so many a second. */
double interval_rate(const struct figures *interval, uint64_t count);

/* Of bytes that passed in the interval: bit/s. */
double interval_speed(const struct figures *interval, uint64_t bytes);

/* What both queues forwarded in the interval: bit/s. */
double interval_forwarded(const struct figures *interval);

/* The share of the interval, 0 to 1, for which both queues have been empty, at least. While one
 * is not, a packet waits in it; so that time is no longer than what all packets have waited
 * together, which the histograms have to the nanosecond, and what the heads have waited so far.
 * 0 if packets were dropped: nobody knows how long those had waited.
 */
double interval_empty(const struct figures *interval);

#endif /* SAMPLE_H */

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"

/* A queue that has been empty for so much of the time is none. */
#define EMPTY_SHARE 0.9

/* A link is full that is used to so much of its rate. */
#define FULL_SHARE 0.9

/* Packets without a tag that are worth a word, of all. */
#define BYPASSED_SHARE 0.01

/* A kind of remark: writes it and returns true if it is true of the interval. */
typedef bool (*remark)(const struct sample *interval, char text[DIAGNOSIS_MAX]);

__attribute__((format(printf, 2, 3))) static bool say(char text[DIAGNOSIS_MAX], const char *format,
						      ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, DIAGNOSIS_MAX, format, args);
	va_end(args);
	return true;
}

const char *delay_text(const struct dualpi2_histogram *histogram, enum delay asked, char *text)
{
	__u64 ns;

	if (!sample_delay(histogram, asked, &ns))
		return strcpy(text, "-");
	return format_delay((double)ns, text);
}

static __u64 arrived(const struct sample *interval)
{
	return interval->stats.l.counters.packets_in + interval->stats.c.counters.packets_in;
}

/* What arrived before may leave now. */
static bool is_used(const struct dualpi2_queue *queue)
{
	return queue->counters.packets_in || queue->counters.packets_out;
}

static __u64 told(const struct dualpi2_queue *queue)
{
	return dualpi2_marks(&queue->counters) + dualpi2_drops(&queue->counters);
}

/* "minute", "12.0s" */
static const char *span(const struct sample *interval, char text[FORMAT_MAX])
{
	double seconds = interval_seconds(interval);

	if (seconds < 59 || seconds > 61)
		return format_delay(interval->span_ns, text);
	snprintf(text, FORMAT_MAX, "minute");
	return text;
}

static bool without_tcx(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	if (!interval->tcx_known || interval->tcx_attached)
		return false;
	return say(text,
		   "nothing is marked: our tcx program is not attached; `dualpi2-load %s%s` "
		   "attaches it",
		   interval->ifname, sample_option(interval));
}

static bool overload(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	const struct dualpi2_overload *overload = &interval->stats.overload;
	char duration[FORMAT_MAX];

	if (!overload->active)
		return false;
	if (interval->is_sum)
		return say(text, "overload in a queue: senders do not react to marks");
	return say(text,
		   "overload for %s: senders do not react to marks, so %.0f %% of the packets are "
		   "dropped, in both queues",
		   format_delay(overload->duration_ns, duration),
		   100 * sample_probability(interval->stats.levels.p_c));
}

static bool stalled(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	const struct dualpi2_queue *l = &interval->stats.l, *c = &interval->stats.c;
	char count[FORMAT_MAX], since[FORMAT_MAX];

	if (!(l->backlog_packets + c->backlog_packets) || l->counters.packets_out ||
	    c->counters.packets_out)
		return false;
	return say(text, "nothing leaves: %s packets have waited throughout the last %s",
		   format_count(l->backlog_packets + c->backlog_packets, count),
		   span(interval, since));
}

static bool no_traffic(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	char since[FORMAT_MAX];

	if (is_used(&interval->stats.l) || is_used(&interval->stats.c))
		return false;
	return say(text, "no packets in the last %s", span(interval, since));
}

static bool around_tcx(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	char share[FORMAT_MAX];

	if ((double)interval->stats.bypassed_tcx <= BYPASSED_SHARE * (double)arrived(interval))
		return false;
	return say(text,
		   "%s of the packets did not pass our tcx program: they cannot be marked, only "
		   "dropped",
		   format_share(interval->stats.bypassed_tcx, arrived(interval), share));
}

/* Where the rate is not known, an empty queue tells that the bottleneck is elsewhere. Where we
 * shape, it may be that little is sent.
 */
static bool empty(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	const double share = interval_empty(interval),
		     rate = 8 * (double)interval->stats.params.rate;
	const double used = interval_speed(interval, interval->stats.l.counters.bytes_out +
							     interval->stats.c.counters.bytes_out);
	char speed[FORMAT_MAX], limit[FORMAT_MAX], since[FORMAT_MAX];

	if (share < EMPTY_SHARE || (rate && used > FULL_SHARE * rate))
		return false;
	if (rate)
		return say(text,
			   "%s of %s used: the queue was empty for at least %d %% of the last %s",
			   format_speed(used, speed),
			   format_rate(interval->stats.params.rate, limit), (int)(100 * share),
			   span(interval, since));
	return say(text,
		   "not the bottleneck: the queue was empty for at least %d %% of the last %s",
		   (int)(100 * share), span(interval, since));
}

/* An AQM that has more to say than p' does. */
static bool by_aqm(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	return !interval->is_sum && interval->aqm->describe &&
	       interval->aqm->describe(&interval->stats, text, DIAGNOSIS_MAX);
}

static bool at_work(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	const struct dualpi2_queue *l = &interval->stats.l, *c = &interval->stats.c;
	const char *what = told(l) || told(c) ? "the bottleneck" : "nothing had to be marked";
	char l_delay[FORMAT_MAX], c_delay[FORMAT_MAX];

	delay_text(&interval->delays.l, DELAY_P99, l_delay);
	delay_text(&interval->delays.c, DELAY_P99, c_delay);
	if (!is_used(l))
		return say(text, "%s: 99 %% of the packets wait up to %s; no L4S traffic", what,
			   c_delay);
	if (!is_used(c))
		return say(text, "%s: 99 %% of the packets wait up to %s; L4S traffic only", what,
			   l_delay);
	return say(text, "%s: 99 %% of the L4S packets wait up to %s, of the Classic ones %s", what,
		   l_delay, c_delay);
}

/* The first that has something to say. */
static const remark remarks[] = {
	without_tcx, overload, stalled, no_traffic, around_tcx, by_aqm, empty, at_work,
};

const char *diagnose(const struct sample *interval, char text[DIAGNOSIS_MAX])
{
	for (size_t i = 0; !remarks[i](interval, text); i++)
		;
	return text;
}

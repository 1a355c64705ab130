// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "show/show.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "aqm/params.h"
#include "cli/clean.h"
#include "cli/format.h"

/* A queue that has been empty for so much of the time is none. */
#define EMPTY_SHARE 0.9

/* A link is full that is used to so much of its rate. */
#define FULL_SHARE 0.9

/* Who sends so much of what we shape to may well be held up behind us. */
#define BUSY_SHARE 0.1

/* Packets without a tag that are worth a word, of all. */
#define BYPASSED_SHARE 0.01

/* Packets that the guard sends to C, likewise. */
#define GUARDED_SHARE 0.01

/* What is known: the qdisc, and an interval of it. */
struct evidence {
	const struct sample *sample;
	const struct figures *interval;
};

/* Writes a sentence and returns true if it is true of the interval. */
typedef bool (*remark)(const struct evidence *seen, char text[DIAGNOSIS_MAX]);

__attribute__((format(printf, 2, 3))) static bool say(char text[DIAGNOSIS_MAX], const char *format,
						      ...)
{
	char said[DIAGNOSIS_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
	clean_text(said, text, DIAGNOSIS_MAX);
	return true;
}

const char *delay_text(const struct dualpi2_histogram *histogram, enum delay asked, char *text)
{
	__u64 ns;

	if (!sample_delay(histogram, asked, &ns))
		return strcpy(text, "-");
	return format_delay((double)ns, text);
}

static __u64 arrived(const struct figures *interval)
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
static const char *span(const struct figures *interval, char text[FORMAT_MAX])
{
	double seconds = interval_seconds(interval);

	if (seconds < 59 || seconds > 61)
		return format_delay(interval->span_ns, text);
	snprintf(text, FORMAT_MAX, "minute");
	return text;
}

static bool without_tcx(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	if (seen->sample->tcx_attached)
		return false;
	return say(text,
		   "nothing is marked: our tcx program is not attached; `dualpi2-load %s%s` "
		   "attaches it",
		   seen->sample->ifname, sample_option(seen->sample));
}

static bool passes_others_over(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	if (!seen->sample->passed_over[0])
		return false;
	return say(text,
		   "%s see nothing of what arrives: `dualpi2-load --check %s --ingress` says what "
		   "helps",
		   seen->sample->passed_over, seen->sample->ifname);
}

static bool passed_by(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	char strays[STRAYS_TEXT_MAX];

	return seen->sample->strays.count && say(text, "%s", strays_text(seen->sample, strays));
}

static bool overload(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	const struct dualpi2_overload *overload = &seen->interval->stats.overload;
	char duration[FORMAT_MAX];

	if (!overload->active)
		return false;
	if (!sample_is_dualq(seen->sample))
		return say(text, "overload in a queue: senders do not react to marks");
	return say(text,
		   "overload for %s: senders do not react to marks, so %.0f %% of the packets are "
		   "dropped, in both queues",
		   format_delay(overload->duration_ns, duration),
		   100 * sample_probability(seen->interval->stats.levels.p_c));
}

static bool stalled(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	const struct dualpi2_queue *l = &seen->interval->stats.l, *c = &seen->interval->stats.c;
	char count[FORMAT_MAX], since[FORMAT_MAX];

	if (!(l->backlog_packets + c->backlog_packets) || l->counters.packets_out ||
	    c->counters.packets_out)
		return false;
	return say(text, "nothing leaves: %s packets have waited throughout the last %s",
		   format_count(l->backlog_packets + c->backlog_packets, count),
		   span(seen->interval, since));
}

static bool no_traffic(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	char since[FORMAT_MAX];

	if (is_used(&seen->interval->stats.l) || is_used(&seen->interval->stats.c))
		return false;
	return say(text, "no packets in the last %s", span(seen->interval, since));
}

static bool around_tcx(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	char share[FORMAT_MAX];

	if ((double)seen->interval->stats.bypassed_tcx <=
	    BYPASSED_SHARE * (double)arrived(seen->interval))
		return false;
	return say(text,
		   "%s of the packets did not pass our tcx program: they cannot be marked, only "
		   "dropped",
		   format_share(seen->interval->stats.bypassed_tcx, arrived(seen->interval),
				share));
}

static bool guarded(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	const struct guarded *guarded = &seen->sample->guarded;
	char share[FORMAT_MAX], now[FORMAT_MAX] = "";

	if ((double)seen->interval->stats.redirected <=
	    GUARDED_SHARE * (double)arrived(seen->interval))
		return false;
	if (guarded->is_known)
		snprintf(now, sizeof(now), "; %u flow%s now", guarded->convicts,
			 guarded->convicts == 1 ? "" : "s");
	return say(
		text,
		"the guard keeps flows that made the L4S queue long out of it: %s of the packets%s",
		format_share(seen->interval->stats.redirected, arrived(seen->interval), share),
		now);
}

static bool is_empty(const struct figures *interval)
{
	return interval_empty(interval) >= EMPTY_SHARE;
}

/* Where the rate is not known, an empty queue tells that the bottleneck is elsewhere. */
static bool elsewhere(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	char since[FORMAT_MAX];

	if (seen->interval->stats.params.rate || !is_empty(seen->interval))
		return false;
	return say(text,
		   "not the bottleneck: the queue was empty for at least %d %% of the last %s",
		   (int)(100 * interval_empty(seen->interval)), span(seen->interval, since));
}

/* Is less forwarded than this share of the rate, and never a queue? */
static bool is_below(const struct figures *interval, double share, char text[DIAGNOSIS_MAX])
{
	const double rate = figures_rate(interval), used = interval_forwarded(interval);
	char speed[FORMAT_MAX], limit[FORMAT_MAX], since[FORMAT_MAX];

	if (!rate || used > share * rate || !is_empty(interval))
		return false;
	return say(text, "%s of %s used: the queue was empty for at least %d %% of the last %s",
		   format_speed(used, speed), format_rate(interval->stats.params.rate, limit),
		   (int)(100 * interval_empty(interval)), span(interval, since));
}

/* Where we shape, it may be that little is sent. */
static bool little_used(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	return is_below(seen->interval, BUSY_SHARE, text);
}

/* Or that something behind us has less. */
static bool no_queue(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	return is_below(seen->interval, FULL_SHARE, text);
}

/* What should be known of the parameters. */
static bool doubted(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	char doubt_text[PARAMS_WHY_MAX];
	const char *doubt =
		params_doubt(seen->sample->aqm, &seen->interval->stats.params, doubt_text);

	return doubt && say(text, "%s", doubt);
}

/* An AQM that has more to say than p' does. */
static bool by_aqm(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	return sample_is_dualq(seen->sample) && seen->sample->aqm->describe &&
	       seen->sample->aqm->describe(&seen->interval->stats, text, DIAGNOSIS_MAX);
}

/* `what`, and how long the queue is. */
static bool say_delays(const char *what, const struct figures *interval, char text[DIAGNOSIS_MAX])
{
	char l_delay[FORMAT_MAX], c_delay[FORMAT_MAX];

	delay_text(&interval->delays.l, DELAY_P99, l_delay);
	delay_text(&interval->delays.c, DELAY_P99, c_delay);
	if (!is_used(&interval->stats.l))
		return say(text, "%s: 99 %% of the packets wait up to %s; no L4S traffic", what,
			   c_delay);
	if (!is_used(&interval->stats.c))
		return say(text, "%s: 99 %% of the packets wait up to %s; L4S traffic only", what,
			   l_delay);
	return say(text, "%s: 99 %% of the L4S packets wait up to %s, of the Classic ones %s", what,
		   l_delay, c_delay);
}

static bool bottleneck(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	return (told(&seen->interval->stats.l) || told(&seen->interval->stats.c)) &&
	       say_delays("the bottleneck", seen->interval, text);
}

static bool short_queue(const struct evidence *seen, char text[DIAGNOSIS_MAX])
{
	return say_delays("nothing had to be marked", seen->interval, text);
}

/* The first that has something to say counts; the last one always has. */
static const struct {
	remark says;
	enum condition condition;
	const char *brief;
} remarks[] = {
	{ without_tcx, CONDITION_BROKEN, "no tcx program" },
	{ passes_others_over, CONDITION_BROKEN, "filter bypassed" },
	{ passed_by, CONDITION_BROKEN, "queue bypassed" },
	{ overload, CONDITION_ATTENTION, "overload" },
	{ stalled, CONDITION_BROKEN, "nothing leaves" },
	{ no_traffic, CONDITION_GOOD, "no packets" },
	{ around_tcx, CONDITION_ATTENTION, "tcx bypassed" },
	{ guarded, CONDITION_ATTENTION, "guard at work" },
	{ doubted, CONDITION_ATTENTION, "check options" },
	{ by_aqm, CONDITION_GOOD, "the bottleneck" },
	{ elsewhere, CONDITION_ATTENTION, "no queue here" },
	{ little_used, CONDITION_GOOD, "little used" },
	{ no_queue, CONDITION_ATTENTION, "no queue here" },
	{ bottleneck, CONDITION_GOOD, "the bottleneck" },
	{ short_queue, CONDITION_GOOD, "short queue" },
};

const char *condition_name(enum condition condition)
{
	static const char *const names[] = {
		[CONDITION_GOOD] = "good",
		[CONDITION_ATTENTION] = "attention",
		[CONDITION_BROKEN] = "broken",
	};

	return names[condition];
}

void diagnose(const struct sample *sample, const struct figures *interval,
	      struct diagnosis *diagnosis)
{
	const struct evidence seen = { sample, interval };
	size_t i = 0;

	while (!remarks[i].says(&seen, diagnosis->words))
		i++;
	diagnosis->condition = remarks[i].condition;
	diagnosis->brief = remarks[i].brief;
}

bool diagnose_elsewhere(const struct sample *sample, char text[DIAGNOSIS_MAX])
{
	const struct evidence seen = { sample, &sample->recent };

	return !little_used(&seen, text) && (elsewhere(&seen, text) || no_queue(&seen, text));
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures in words, and on stdout in all ways but the live view. */
#ifndef SHOW_H
#define SHOW_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "pinned/registration.h"
#include "sample/configured.h"
#include "sample/sample.h"

/* Which figures of a sample (sample.h) are shown; of `recent` those that it has. */
enum shown {
	SHOWN_TOTAL,
	SHOWN_RECENT,
};

/* NULL: it has none. */
static inline const struct figures *shown_figures(const struct sample *sample, enum shown shown)
{
	if (shown == SHOWN_TOTAL)
		return &sample->total;
	return sample->recent.span_ns ? &sample->recent : NULL;
}

/* A table for people, 80 columns wide. Before the total stands what matters of what happened
 * lately.
 */
void table_print(const struct samples *list, enum shown shown);

/* As `tc -s qdisc show` prints those of dualpi2. */
void tc_print(const struct samples *list);

/* The distribution of the delays of both queues as a plot, 80 columns wide, at most as high as a
 * terminal of 24 lines.
 */
void histogram_print(const struct samples *list, enum shown shown);

/* A delay of a queue's packets, or "-" if there were none. Writes to `text` (FORMAT_MAX bytes) and
 * returns it.
 */
const char *delay_text(const struct dualpi2_histogram *histogram, enum delay asked, char *text);

/* ---- metrics ------------------------------------------------------------------------- */

/* The two text formats of Prometheus differ in how they name a counter's family: OpenMetrics 1.0
 * without `_total`, as its samples are not, and the older format as its samples. So what reads the
 * older one (the textfile collector of node_exporter) takes OpenMetrics as well, but knows neither
 * types nor meanings of the counters then.
 */
enum exposition {
	EXPOSITION_OPENMETRICS,
	EXPOSITION_PROMETHEUS, /* text format 0.0.4 */
};

/* `configured`: NULL: nobody asks. */
void openmetrics_print(const struct samples *list, const struct configured *configured,
		       enum exposition exposition);

/* ---- JSON ---------------------------------------------------------------------------- */

/* An object per instance (for an mq another one, of kind mq, with the sums), with the keys and
 * units that `tc -j -s qdisc show` has for dualpi2, and more. What delays are told with: `bins`
 * are those of the histogram that hold a packet.
 */
enum json_delays {
	JSON_QUANTILES,
	JSON_BINS,
};

/* An array of them. */
void json_print(const struct samples *samples, enum json_delays delays);

/* To be called first, once, for the next: where the lines go. */
void json_begin_lines(FILE *file);

/* The objects of those that have an interval, with what happened in it, a line each, which is
 * written with one write(2): no signal leaves half of one.
 */
void json_print_lines(FILE *file, const struct samples *list, enum json_delays delays);

/* ---- events -------------------------------------------------------------------------- */

struct sampler;

enum followed {
	FOLLOWED_OVERLOAD,    /* RFC 9332, 2.5.2.3 */
	FOLLOWED_CONVICTIONS, /* of the guard, for who may open the pins */
	FOLLOWED,
};

/* Who follows events, a line each. */
struct follower {
	struct sampler *sampler; /* of one interface, or of all in all namespaces */
	__u64 netns;		 /* ours (struct dualpi2_key) */
	bool json;
	struct followed_to {
		__u64 latest;  /* number of the last event that was looked at */
		__u64 missing; /* of the one behind it, if that was not there */
	} to[FOLLOWED][AQMS_MAX];
};

/* Look at what came since the last time, and print it, or leave it (`printed`). */
bool events_look(struct follower *follower, bool printed);

/* Print them as they happen, whichever AQMs come and go, until SIGINT, SIGHUP or SIGTERM. That no
 * kind is registered any more is a failure.
 */
bool events_follow(struct sampler *sampler, bool json);

/* ---- in words ------------------------------------------------------------------------ */

#define DIAGNOSIS_MAX 192

enum condition {
	CONDITION_GOOD,
	CONDITION_ATTENTION, /* it works, but not as somebody will have meant it */
	CONDITION_BROKEN,    /* it cannot do its work */
};

/* "good", "attention", "broken" */
const char *condition_name(enum condition condition);

/* What matters most of what happened to a qdisc in an interval: what is amiss, else who makes the
 * queue and how long it is.
 */
struct diagnosis {
	enum condition condition;
	const char *brief;	   /* in a few words, 14 characters at most */
	char words[DIAGNOSIS_MAX]; /* in one sentence, as it may be shown */
};

void diagnose(const struct sample *sample, const struct figures *interval,
	      struct diagnosis *diagnosis);

/* Does it look as if packets had lately waited elsewhere? Then `text` says why. */
bool diagnose_elsewhere(const struct sample *sample, char text[DIAGNOSIS_MAX]);

/* ---- bars ---------------------------------------------------------------------------- */

/* Plots made of characters: eighths of a block where the terminal knows them, else ASCII. */

/* A character takes up to three bytes. */
#define BAR_WIDTH_MAX 40
#define BAR_TEXT_MAX (3 * BAR_WIDTH_MAX + 1)

/* To be called first: which characters there are, the locale (LC_CTYPE) tells. */
void bars_init(void);

/* A bar from left to right, `value` (0 to 1) of `width` (up to BAR_WIDTH_MAX) characters, filled up
 * with blanks. Writes to `text` (BAR_TEXT_MAX bytes) and returns it.
 */
const char *bar_across(double value, int width, char *text);

/* A bar upwards, `value` (0 to 1) of `height` characters: the one in `row`, from below, 0 first.
 * What is not 0 can be seen.
 */
const char *bar_upward(double value, int height, int row);

/* ---- into a file --------------------------------------------------------------------- */

/* A file that takes another's place by a rename, once it is whole: nobody reads half of one. */
struct output_file {
	int directory; /* of both: later we may be in another mount namespace (pins.h) */
	int file;
	char name[NAME_MAX]; /* of the file */
	char temporary[NAME_MAX + 1];
};

/* Begin one for `path`, which the standard output goes to from now on. */
bool output_begin(struct output_file *output, const char *path);

/* All is written: the file gets its place or, if it is not `whole`, goes. */
bool output_end(const struct output_file *output, bool whole);

/* A plain file for a recording, emptied, or a device as /dev/null; NULL, with errno. EINVAL: it is
 * a FIFO, or has another name, too.
 */
FILE *record_open(const char *path);

#endif /* SHOW_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers with units, read as tc has them and written for people; lines of text. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A suffix, and how much one of it is. A table ends with NULL. The first of those of one worth is
 * the one that is written.
 */
struct unit {
	const char *suffix; /* "": a bare number */
	uint64_t worth;
};

extern const struct unit time_units[]; /* ns; a bare number is in microseconds */
extern const struct unit rate_units[]; /* bit/s. k is 1000, ki is 1024; bps are bytes/s */

/* Read a number with a unit: NUMBER * worth / divisor.
 *
 * The whole text or nothing: no sign, no blank, no exponent, no trailing characters. Suffixes may
 * be in upper or lower case. Arithmetic is exact, with decimals to the ninth digit; fractions of
 * the result are cut off. What does not fit is UINT64_MAX, so that a check of the range refuses
 * it. False, and `value` is left alone, if the text is no such number.
 */
bool number_read(const char *text, const struct unit *units, uint32_t divisor, uint64_t *value);

/* ---- for people ---------------------------------------------------------------- */

/* Enough for every text below, with its terminator. */
#define FORMAT_MAX 32

/* All write to `text` (FORMAT_MAX bytes) and return it. What is measured is a double: it is shown
 * to three digits, and a rate has no largest value.
 */

/* 5000000 bytes/s: "40mbit". Reads back as the same. */
const char *format_rate(uint64_t bytes_per_s, char *text);

/* 15000000 ns: "15ms"; 0: "0us". Reads back as the same, to 1 ns. */
const char *format_time(uint64_t ns, char *text);

/* A measured time, to three digits: "0us", "320us", "14.9ms", "1.02s". */
const char *format_delay(double ns, char *text);

/* A measured rate in bit/s, to three digits: "0bit", "824bit", "24.1mbit". */
const char *format_speed(double bits_per_s, char *text);

/* A tc class: "8002:1". */
const char *format_class(uint32_t classid, char *text);

/* A number with an SI prefix, at most 6 characters wide: "12345", "1.23M". */
const char *format_count(double count, char *text);

/* A share of `whole` in percent: "12.3 %", "0.05 %"; "-" if there is no whole. */
const char *format_share(double part, double whole, char *text);

/* Break `text` at a blank to fit `width` characters (0: no limit); at least one word. `length`:
 * characters of this line. Returns where the next one begins.
 */
const char *format_line(const char *text, size_t width, int *length);

/* Of `count` queues of an mq that have not the qdisc that is `wanted`, the first one, and what it
 * has ("": nothing): "queue 8001:2 (and 1 more) has pfifo in place of bpf_dualpi2, so what comes to
 * it bypasses the AQM and the rate", in `text` (QUEUES_TEXT_MAX bytes).
 */
#define QUEUES_TEXT_MAX 160
const char *format_queues(uint32_t first, size_t count, const char *kind, const char *wanted,
			  char *text);

#endif /* FORMAT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values for people, as the parsers of parse.h read them back. */
#ifndef FORMAT_H
#define FORMAT_H

#include <stdint.h>

/* Enough for every text below, with its terminator. */
#define FORMAT_MAX 32

/* All write to `text` (FORMAT_MAX bytes) and return it. What is measured is a double: it is shown
 * to three digits, and a rate has no largest value.
 */

/* 5000000 bytes/s: "40mbit". */
const char *format_rate(uint64_t bytes_per_s, char *text);

/* 15000000 ns: "15ms"; 0: "0us". Whole and exact in the unit that fits best, to 1 ns. */
const char *format_time(uint64_t ns, char *text);

/* A measured time, to three digits: "0us", "320us", "14.9ms", "1.02s". */
const char *format_delay(double ns, char *text);

/* A measured rate in bit/s, to three digits: "0bit", "824bit", "24.1mbit". */
const char *format_speed(double bits_per_s, char *text);

/* A gain in 1/256 Hz: "0.160156". */
const char *format_gain(uint32_t hz256, char *text);

/* A tc class: "8002:1". */
const char *format_class(uint32_t classid, char *text);

/* A number with an SI prefix, at most 6 characters wide: "12345", "1.23M". */
const char *format_count(double count, char *text);

/* A share of `whole` in percent: "12.3 %", "0.05 %"; "-" if there is no whole. */
const char *format_share(uint64_t part, uint64_t whole, char *text);

#endif /* FORMAT_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values as tc writes them, turned into the units of struct dualpi2_params.
 *
 * Every parser takes the whole text or nothing: no sign (but parse_int()), no blank, no
 * exponent, no trailing characters. Suffixes may be in upper or lower case. Arithmetic is
 * exact, with decimals to the ninth digit; fractions of the result's unit are cut
 * off. Results that do not fit are the highest value of their type, so that the
 * caller's range check refuses them.
 *
 * All return false, and leave the result alone, if the text is not such a value.
 * None checks a range: that is the option table's work (params.c).
 */
#ifndef PARSE_H
#define PARSE_H

#include <stdbool.h>
#include <stdint.h>

/* A whole number: "10000". */
bool parse_uint(const char *text, uint64_t *value);

/* A whole number that may be negative: "-4". INT64_MAX or -INT64_MAX if it does not fit. */
bool parse_int(const char *text, int64_t *value);

/* A rate in bytes/s. Bit/s: "40mbit", "1.5gbit", "500kibit", "8000"; bytes/s: "5mbps",
 * "1mibps". k is 1000, ki is 1024. Only 0 reads as 0: less than 1 byte/s is 1.
 */
bool parse_rate(const char *text, uint64_t *bytes_per_s);

/* A time in nanoseconds: "15ms", "500us", "1.5s", and the longer forms "15msecs",
 * "1sec"; without a suffix microseconds.
 */
bool parse_time(const char *text, uint64_t *ns);

/* A size in bytes: "30000000", "64k", "32mb", "1g", "100kbit". k is 1024, as tc has it. */
bool parse_size(const char *text, uint64_t *bytes);

/* A whole percentage: "10" or "10%". */
bool parse_percent(const char *text, uint64_t *percent);

/* A share of 100 % in units of 2^-32: "25%", "0.5", "100" (2^32). */
bool parse_share(const char *text, uint64_t *share);

/* A gain in Hz, "0.16", to the nearest step of 1/256 Hz: so what tc and our
 * tools print (0.160156) reads back as the same gain.
 */
bool parse_gain(const char *text, uint64_t *hz256);

/* A number of packets: "5p", "5pkt", "5packets" ("pkts" and "packet" too). */
bool parse_packets(const char *text, uint64_t *packets);

/* A step threshold: a time, or packets. `in_packets` tells which one `value` is. */
bool parse_step_thresh(const char *text, uint64_t *value, bool *in_packets);

/* DSCPs, comma separated, as bits of `set`: numbers and the names of dscp_name()'s table,
 * "ef,cs5,45"; "none" is the empty set. False as well if a number is above 63.
 */
bool parse_dscps(const char *text, uint64_t *set);

/* The name of a DSCP (RFC 2474, 2597, 3246, 5865, 8622; 45 is NQB's); NULL if it has none. */
const char *dscp_name(unsigned int dscp);

#endif /* PARSE_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of options: read from an argument, checked, and written for people. */
#ifndef VALUE_H
#define VALUE_H

#include <stdbool.h>

#include "cli/spec.h"

/* Enough for every text below, with its terminator: the longest is of all DSCPs. */
#define OPTION_TEXT_MAX 320

enum value_status {
	VALUE_OK,
	VALUE_MALFORMED,
	VALUE_OUT_OF_RANGE,
};

/* Does this option take a value? */
bool value_is_taken(const struct option_spec *spec);

/* Read a value, as tc writes it. `value` is left alone unless VALUE_OK is returned. */
enum value_status value_read(const struct option_spec *spec, const char *text, uint64_t *value);

/* Is there a default that can be shown? memlimit has none, but a rule of thumb. */
bool value_has_default(const struct option_spec *spec);

/* What --help calls the value: "TIME"; what it has to be: "a time". */
const char *value_argument(const struct option_spec *spec);
const char *value_what(const struct option_spec *spec);

/* Those below write to `text` (OPTION_TEXT_MAX bytes) and return it. */

/* A value as value_read() reads it, but where 0 is no value: "15ms", "30 ptm", "unlimited". A word
 * that does not exist is "unknown": somebody else wrote to the map.
 */
const char *value_format(const struct option_spec *spec, uint64_t value, char *text);

/* The same with the unit that only people need: "10000p", "10%". */
const char *value_show(const struct option_spec *spec, uint64_t value, char *text);

/* "0us to 4294s" */
const char *value_range(const struct option_spec *spec, char *text);

/* What a number without a unit is read as, if there are units: "15us"; NULL: it has one, or needs
 * none.
 */
const char *value_bare(const struct option_spec *spec, const char *given, char *text);

/* Where tc's units surprise, what a value is read as: "15us: give a unit if it should not be",
 * "320mbit: kbps, mbps, ... are bytes"; NULL: they do not, or it is no value.
 */
const char *value_surprise(const struct option_spec *spec, const char *given, char *text);

/* A value that may be given: "15ms". */
const char *value_example(const struct option_spec *spec, char *text);

#endif /* VALUE_H */

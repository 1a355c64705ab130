/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of parameters (include/params.h) as options: struct option_spec of each. Who uses
 * them defines whose they are:
 *
 *	ROW_STRUCT	the struct that has the members
 *	ROW_START	where it begins in struct dualpi2_params
 *	ROW_AQM		the AQM that alone has them, or NULL
 *	ROW_HEADING	under which --help has them
 */
#ifndef ROW_H
#define ROW_H

#include "cli/spec.h"
#include "dualpi2.h"

#define ROW_OPTION(option_, kind_, help_)                           \
	.name = (option_), .help = (help_), .heading = ROW_HEADING, \
	.places = PLACE_FILE | PLACE_WORD, .kind = KIND_##kind_, .aqm = ROW_AQM

#define ROW_MEMBER(member_)                                  \
	.offset = ROW_START + offsetof(ROW_STRUCT, member_), \
	.size = sizeof(((ROW_STRUCT *)0)->member_)

#define ROW_PARAM(type_, member_, option_, kind_, min_, max_, default_, json_, help_) \
	{ ROW_OPTION(option_, kind_, help_),                                          \
	  ROW_MEMBER(member_),                                                        \
	  .min = (min_),                                                              \
	  .max = (max_),                                                              \
	  .value = (default_),                                                        \
	  .json = (json_) },

#define ROW_CHOICE(type_, member_, option_, words_, default_, json_, help_)           \
	{ ROW_OPTION(option_, CHOICE, help_), ROW_MEMBER(member_), .words = (words_), \
	  .value = (default_), .json = (json_) },

/* Of those of one member, only one may be given. */
#define ROW_FLAG(option_, kind_, member_, value_, help_)          \
	{ ROW_OPTION(option_, kind_, help_), ROW_MEMBER(member_), \
	  .slot = 1 + offsetof(ROW_STRUCT, member_), .value = (value_) },

/* An option that sets several parameters. */
#define ROW_DERIVED(option_, kind_, min_, max_, help_) \
	{ ROW_OPTION(option_, kind_, help_), .min = (min_), .max = (max_) },

/* One that stands for others, with a word about it. */
#define ROW_PRESET(option_, label_, words_, help_) \
	{ ROW_OPTION(option_, OPTIONS, label_ ": " help_), .words = (words_), .label = (label_) },

/* How many rows: 0 ROWS(ROW_COUNT, ROW_COUNT, ROW_COUNT). */
#define ROW_COUNT(...) +1

#endif /* ROW_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of parameters (include/params.h) as options: struct option_spec of each. */
#ifndef ROW_H
#define ROW_H

#include "cli/spec.h"
#include "dualpi2.h"

/* `where_` is where the struct that has the member begins in struct dualpi2_params. */
#define ROW_OF(type_, where_, struct_, member_, option_, kind_, min_, max_, default_, json_, \
	       help_)                                                                        \
	{ .name = (option_),                                                                 \
	  .help = (help_),                                                                   \
	  .kind = KIND_##kind_,                                                              \
	  .min = (min_),                                                                     \
	  .max = (max_),                                                                     \
	  .offset = (where_) + offsetof(struct_, member_),                                   \
	  .size = sizeof(type_),                                                             \
	  .value = (default_),                                                               \
	  .json = (json_) },

#define ROW_PARAM(type_, member_, ...) ROW_OF(type_, 0, struct dualpi2_params, member_, __VA_ARGS__)

#define ROW_CHOICE(type_, member_, option_, words_, default_, json_, help_) \
	{ .name = (option_),                                                \
	  .help = (help_),                                                  \
	  .kind = KIND_CHOICE,                                              \
	  .words = (words_),                                                \
	  .offset = offsetof(struct dualpi2_params, member_),               \
	  .size = sizeof(type_),                                            \
	  .value = (default_),                                              \
	  .json = (json_) },

/* Of those of one member, only one may be given. */
#define ROW_FLAG(option_, kind_, member_, value_, help_)         \
	{ .name = (option_),                                     \
	  .help = (help_),                                       \
	  .kind = KIND_##kind_,                                  \
	  .slot = 1 + offsetof(struct dualpi2_params, member_),  \
	  .offset = offsetof(struct dualpi2_params, member_),    \
	  .size = sizeof(((struct dualpi2_params *)0)->member_), \
	  .value = (value_) },

/* For a parameter of the AQM whose header is included, and for an option that sets several. */
#define ROW_OWN(type_, member_, ...) \
	ROW_OF(type_, offsetof(struct dualpi2_params, aqm), struct aqm_params, member_, __VA_ARGS__)

#define ROW_DERIVED(option_, kind_, min_, max_, help_) \
	{ .name = (option_), .help = (help_), .kind = KIND_##kind_, .min = (min_), .max = (max_) },

/* How many rows: 0 ROWS(ROW_COUNT, ROW_COUNT, ROW_COUNT). */
#define ROW_COUNT(...) +1

#endif /* ROW_H */

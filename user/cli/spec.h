/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An option as data. The rows of params.h and include/aqm/ become such. A table of them ends with
 * one that is all zero.
 */
#ifndef SPEC_H
#define SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an option takes, or a member of struct dualpi2_params holds (value.h). */
enum value_kind {
	/* No value is given: */
	KIND_NONE,     /* a switch of the tool */
	KIND_SWITCH,   /* stands for a value of a member */
	KIND_PRESET,   /* stands for a framing, an overhead and an mpu */
	KIND_OPTIONS,  /* stands for other options with their values: `words` */
	KIND_PART,     /* a member without an option, which another one sets with its own */
	KIND_PRESENCE, /* the same, set by flags: 1 or 0, or 2 for auto */

	/* A value is given: */
	KIND_FILE,     /* any text but an empty one */
	KIND_PREFIX,   /* of addresses (prefix.h) */
	KIND_HANDLE,   /* major number of a qdisc's handle, as tc writes it: hexadecimal */
	KIND_PEER,     /* a host, with a port or without (peer.h) */
	KIND_TIME,     /* ns */
	KIND_GAIN,     /* 1/256 Hz */
	KIND_NUMBER,   /* a whole number */
	KIND_PACKETS,  /* ... of packets */
	KIND_QLEN,     /* ... of packets in a queue */
	KIND_BYTES,    /* ... of bytes in a packet */
	KIND_OVERHEAD, /* ... that may be negative, and the framing */
	KIND_SIZE,     /* bytes of memory */
	KIND_PERCENT,  /* a whole percentage */
	KIND_SHARE,    /* 2^-32 */
	KIND_RATE,     /* bytes/s */
	KIND_STEP,     /* ns, or packets with STEP_IN_PACKETS */
	KIND_DSCPS,    /* bit n: DSCP n */
	KIND_CHOICE,   /* place of a word among `words` */
	N_KINDS,
};

#define STEP_IN_PACKETS (UINT64_C(1) << 63)

/* Where an option may stand besides `--name` on the command line. */
enum option_place {
	PLACE_FILE = 1, /* in a file (config.h) */
	PLACE_WORD = 2, /* as tc spells it: `step_thresh 1ms` is `--step-thresh 1ms` */
};

struct option_spec {
	const char *name;    /* without the dashes; NULL: no option, but a member that is shown */
	const char *heading; /* under which --help has it; below its first line goes a note */
	const char *help;    /* a sentence; --help wraps it */
	char letter;	     /* short form, or 0 */
	unsigned int places; /* of enum option_place */
	enum value_kind kind;
	unsigned int slot;     /* not 0: of the options with this number only one may be given */
	unsigned int excludes; /* bit n: row n of the table; the messages name this one first */
	bool many;	       /* may be given again: the text has all, separated by commas */
	bool is_word;	       /* an argument without a name (struct command) ... */
	bool is_needed;	       /* ... that must be there */
	int64_t min, max;      /* of numbers, in the unit of the kind */
	/* KIND_CHOICE: "step|ramp"; KIND_OPTIONS: "mpu 64"; KIND_FILE: an example */
	const char *words;
	const char *label;    /* KIND_OPTIONS: what it is, in a word, wherever it is shown */
	const char *argument; /* what --help calls the value; NULL: as the kind has it */

	/* Only of parameters of the qdisc. */
	const struct aqm *aqm; /* that alone has it; NULL: all have it */
	size_t offset, size;   /* of the member of struct dualpi2_params; size 0: no parameter */
	uint64_t value;	       /* default, or what a flag stands for */
	const char *json;      /* key; NULL: not shown */
};

/* What was given for an option: beside a table of options stands one of these, row by row. */
struct option_given {
	const char *text; /* "" for an option without a value; NULL: nothing */
	uint64_t value;	  /* that the text says, or that a flag stands for */
	bool is_read;	  /* the option takes the text: one of that name of another AQM may not */
	bool is_settled;  /* by the command line, which counts more than a file */
};

/* Of a row of a table: is it not the end? */
static inline bool option_exists(const struct option_spec *spec)
{
	return spec->name || spec->size;
}

/* Does it take no value, but stands for one of a parameter? */
static inline bool option_is_flag(const struct option_spec *spec)
{
	return spec->kind == KIND_SWITCH || spec->kind == KIND_PRESET;
}

/* The first option of this name, which must be there. */
const struct option_spec *option_named(const struct option_spec *options, const char *name);

/* Is what a flag stands for the default of its member? */
bool option_is_default(const struct option_spec *options, const struct option_spec *flag);

#endif /* SPEC_H */

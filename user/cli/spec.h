/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An option as data. The rows of params.h and include/aqm/ become such. */
#ifndef SPEC_H
#define SPEC_H

#include <stddef.h>
#include <stdint.h>

/* What an option takes, or a member of struct dualpi2_params holds (value.h). */
enum value_kind {
	/* No value is given: */
	KIND_NONE,     /* a switch of the tool */
	KIND_SWITCH,   /* stands for a value of a member */
	KIND_PRESET,   /* stands for a framing, an overhead and an mpu */
	KIND_PART,     /* a member without an option, which another one sets with its own */
	KIND_PRESENCE, /* the same, set by flags: 1 or 0 */

	/* A value is given: */
	KIND_FILE,     /* any text but an empty one */
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

struct option_spec {
	const char *name; /* without the dashes; NULL: no option, but a member that is shown */
	char letter;	  /* short form, or 0 */
	const char *help; /* a sentence; --help wraps it */
	enum value_kind kind;
	unsigned int slot; /* not 0: of the options with this number only one may be given */
	int64_t min, max;  /* of numbers, in the unit of the kind */
	const char *words; /* KIND_CHOICE: "step|ramp"; KIND_FILE: an example */

	/* Only of parameters of the qdisc. */
	size_t offset, size; /* of the member of struct dualpi2_params; size 0: no parameter */
	uint64_t value;	     /* default, or what a flag stands for */
	const char *json;    /* key; NULL: not shown */
};

#endif /* SPEC_H */

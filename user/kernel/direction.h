/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Directions of packets at an interface. */
#ifndef DIRECTION_H
#define DIRECTION_H

enum direction {
	EGRESS,	 /* that leave it */
	INGRESS, /* that arrive at it */
	N_DIRECTIONS,
};

/* Also the word for it on command lines, in files and in figures. */
static inline const char *direction_name(enum direction direction)
{
	return direction == INGRESS ? "ingress" : "egress";
}

#endif /* DIRECTION_H */

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The commands of tcp-prague. */
#ifndef COMMANDS_H
#define COMMANDS_H

#include <stdbool.h>

/* For whom, and where; NULL: not given. Lists are separated by commas. */
struct selection {
	const char *cgroup, *unit, *netns;
	const char *devices;
	const char *to, *not_to;
	bool is_default; /* of a whole network namespace */
	bool no_classic_detection;
};

/* Of --no-classic-detection. */
#define NO_DETECTION_TEXT                                                                   \
	"without the detection Prague starves others behind a queue with Classic ECN (RFC " \
	"9331, 4.3)"

/* Run a program of which all sockets are Prague's; `status`: its exit status. */
bool prague_run(const struct selection *selection, char **argv, int *status);

bool prague_on(const struct selection *selection);

/* `if_any`: that there is nothing to end is no failure. */
bool prague_off(bool if_any);

enum status_format { STATUS_TABLE, STATUS_JSON, STATUS_OPENMETRICS };
bool prague_show(enum status_format format);

/* `peer`: "HOST" or "HOST:PORT"; NULL: only this host. */
bool prague_check(const char *peer);

/* Receive and throw away, for a check from another host. */
bool prague_sink(const char *port);

#endif /* COMMANDS_H */

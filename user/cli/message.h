/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Error messages: one line, with the cause and what to do.
 *
 * The first failure is the one that matters: what fails afterwards (an undo step,
 * a caller that gives up too) is shown with -v only, and so are errno and what
 * libbpf has to say.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>

/* Exit statuses of the tools. */
enum status {
	STATUS_OK = 0,
	STATUS_FAILURE = 1,
	STATUS_USAGE = 2,
};

/* To be called first. `program` begins every message and must stay valid. */
void message_init(const char *program);

/* -v: show more. */
void message_set_verbose(void);

/* Where in a file the input is that the next messages are about (printf-like); NULL: nowhere. */
void message_set_place(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Report a failure (printf-like, without a newline). `error` is its errno, or 0.
 * Always returns false, so that a function can end with `return fail(...)`. What is short of
 * is the cause whatever was being done: its line comes first, and so instead.
 */
bool fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What to say if a call failed for want of file descriptors or memory, which says nothing about
 * what it was to do or to look for; NULL: that was not why.
 */
const char *message_shortage(int error);

/* The same, for wrong usage that shows only when the interface has been looked at. */
bool fail_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Has a failure been reported? */
bool message_reported(void);

/* The exit status of a tool that could not do its work: what goes with the first failure. */
enum status message_status(void);

/* While a program has the whole screen, messages would not be seen: the first one is kept, and
 * printed when the screen is gone.
 */
void message_hold(void);
void message_release(void);

/* A step on the way, shown with -v only. */
void verbose(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* MESSAGE_H */

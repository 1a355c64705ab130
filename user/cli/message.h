/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Error messages: one line, with the cause and what to do.
 *
 * A failure belongs to an action: what a tool does for one interface, say. The first failure of an
 * action is the one that matters: what fails afterwards (an undo step, a caller that gives up too)
 * is shown with -v only, and so are errno and what libbpf has to say.
 *
 * All over user/, unless a comment says otherwise:
 *
 * - A function that returns whether it did something has reported why it did not.
 * - A look-up returns 1 (yes), 0 (no) or -errno (unknown), and reports nothing.
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

/* Call it first. `program` begins every message and must stay valid.
 *
 * A closed standard input, output or error output is replaced by a file whose use fails as well, so
 * that no file opened later gets its number. Output that cannot be written when the tool exits is a
 * failure.
 */
void message_init(const char *program);

/* The next action begins, and has not failed yet. Most tools do a single one, which begins with the
 * program.
 */
void message_begin(void);

/* -v: show more. */
void message_set_verbose(void);

/* Where in a file the input is that the next messages are about (printf-like); NULL: nowhere. */
void message_set_place(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print a line (printf-like, without a newline): a failure, of this exit status, or with STATUS_OK
 * a step on the way, shown with -v only. `error` is the errno of the failure, or 0. If memory or
 * file descriptors ran out, that is the cause whatever was being done: a line about it is printed
 * instead. Always returns false, so that a function can end with `return fail(...)`.
 */
bool message_print(enum status outcome, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print a line (printf-like, without a newline) to stdout: what was done. It may contain any text
 * from outside, as all messages may (clean.h).
 */
void say_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flush stdout. False: it cannot be written, which is reported. */
bool say_flush(void);

#define fail(error, ...) message_print(STATUS_FAILURE, error, __VA_ARGS__)
/* Wrong usage that shows only when the interface has been looked at. */
#define fail_usage(...) message_print(STATUS_USAGE, 0, __VA_ARGS__)
#define verbose(...) ((void)message_print(STATUS_OK, 0, __VA_ARGS__))

/* What to say if a call failed for want of file descriptors or memory, which says nothing about
 * what it was to do or to look for; NULL: that was not why.
 */
const char *message_shortage(int error);

/* If a look-up failed, report it: "cannot look at WHAT: why; run it again", or whatever else helps.
 * `found`: its result, 1, 0 or -errno, which is returned. `what`: printf-like.
 */
int expect_known(int found, const char *what, ...) __attribute__((format(printf, 2, 3)));

/* Has the action failed? */
bool message_reported(void);

/* The exit status of an action that could not be done: what goes with its first failure. */
enum status message_status(void);

/* While a program has the whole screen, messages would not be seen: the first one is kept, and
 * printed when the screen is gone.
 */
void message_hold(void);
void message_release(void);

#endif /* MESSAGE_H */

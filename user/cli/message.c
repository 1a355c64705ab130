// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cli/message.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clean.h"

static const char *program_name;
static bool is_verbose;
static char place[512]; /* "FILE:LINE: ", or empty */

#define LINE_SIZE (1024 + sizeof(place))

static enum status status = STATUS_OK; /* of the action */
static bool is_held;
static char held[1024]; /* the first line meanwhile */

static int print_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	return is_verbose ? vfprintf(stderr, format, args) : 0;
}

/* Open /dev/null in place of each that is closed, in the mode in which its use still fails. */
static void open_standard_files(void)
{
	static const int modes[] = {
		[STDIN_FILENO] = O_WRONLY,
		[STDOUT_FILENO] = O_RDONLY,
		[STDERR_FILENO] = O_RDONLY,
	};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || open("/dev/null", modes[fd]) == fd)
			continue;
		fail(errno, "/dev/null: cannot be opened: %s", strerror(errno));
		exit(STATUS_FAILURE);
	}
}

/* At the exit. */
static void end_output(void)
{
	if (!say_flush())
		_exit(message_status());
}

void message_init(const char *program)
{
	program_name = program;
	libbpf_set_print(print_libbpf);
	open_standard_files();
	atexit(end_output);
}

void message_begin(void)
{
	status = STATUS_OK;
}

void message_set_verbose(void)
{
	is_verbose = true;
}

void message_set_place(const char *format, ...)
{
	va_list args;

	place[0] = '\0';
	if (!format)
		return;
	va_start(args, format);
	vsnprintf(place, sizeof(place) - 2, format, args);
	va_end(args);
	strcat(place, ": ");
}

/* Whatever is in it: parts may be the user's. */
static void print_line(const char *line)
{
	char clean[CLEAN_MAX(LINE_SIZE)];

	clean_text(line, clean, sizeof(clean));
	if (!is_held)
		fprintf(stderr, "%s: %s\n", program_name, clean);
	else if (!*held)
		snprintf(held, sizeof(held), "%.*s", (int)sizeof(held) - 1, clean);
}

void say_line(const char *format, ...)
{
	char line[LINE_SIZE], clean[CLEAN_MAX(LINE_SIZE)];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	printf("%s\n", clean_text(line, clean, sizeof(clean)));
}

bool say_flush(void)
{
	const int error = fflush(stdout) ? errno : 0;

	return !ferror(stdout) ||
	       fail(error, "the output cannot be written: is the disk full, or the standard output "
			   "closed?");
}

void message_hold(void)
{
	is_held = true;
}

void message_release(void)
{
	is_held = false;
	if (*held)
		fprintf(stderr, "%s: %s\n", program_name, held);
	*held = '\0';
}

const char *message_shortage(int error)
{
	switch (error) {
	case EMFILE:
		return "too few open files are allowed: raise the limit (`ulimit -n 1024`), and "
		       "run it again";
	case ENFILE:
		return "this host has no room for more open files: raise the limit "
		       "(`sysctl fs.file-max`), and run it again";
	case ENOMEM:
		return "out of memory: free some, and run it again";
	}
	return NULL;
}

bool message_print(enum status outcome, int error, const char *format, ...)
{
	char line[LINE_SIZE];
	size_t used = snprintf(line, sizeof(line), "%s", place);
	va_list args;

	if (message_shortage(error))
		fail(0, "%s", message_shortage(error));
	va_start(args, format);
	vsnprintf(line + used, sizeof(line) - used, format, args);
	va_end(args);
	if (is_verbose || (outcome && !status))
		print_line(line);
	status = status ?: outcome;
	if (error)
		verbose("  errno %d: %s", error, strerror(error));
	return false;
}

/* What helps after a look-up that failed, behind "run it". */
static const char *remedy(int error)
{
	if (error == EACCES || error == EPERM)
		return geteuid() ? "as root"
				 : "outside of the container or sandbox that forbids it to root";
	if (error == EROFS)
		return "again with that file system writable (`mount -o remount,rw`)";
	return "again";
}

int expect_known(int found, const char *what, ...)
{
	char text[256];
	va_list args;

	if (found >= 0)
		return found;
	va_start(args, what);
	vsnprintf(text, sizeof(text), what, args);
	va_end(args);
	fail(-found, "cannot look at %s: %s; run it %s", text, strerror(-found), remedy(-found));
	return found;
}

bool message_reported(void)
{
	return status != STATUS_OK;
}

enum status message_status(void)
{
	return status ? status : STATUS_FAILURE;
}

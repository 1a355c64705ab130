/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tool that is told by its first argument what to do. */
#ifndef SUBCOMMAND_H
#define SUBCOMMAND_H

#include "cli/options.h"

struct subcommand {
	const char *name;			    /* the first argument */
	const char *about;			    /* a line of the tool's --help */
	bool (*run)(const struct command *command); /* do what the command line says */
	struct command *command;
};

struct tool {
	const char *name;
	const char *about;		      /* what it is for, as --help has it */
	const char *examples;		      /* lines with such */
	const struct subcommand *subcommands; /* ends with one without a name */
};

/* How the epilogue of a command begins, which goes on with examples. */
#define EPILOGUE(done) "Exit status: " done ", 1 failed, 2 wrong usage.\n\nEXAMPLES\n"

/* Read the command line and do what it says. Returns the exit status. */
int tool_run(const struct tool *tool, int argc, char **argv);

#endif /* SUBCOMMAND_H */

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Nothing of it is pinned, and the congestion control has a name of its own: whatever ends us, the
 * kernel takes back everything but the directory of the control group, which the next run removes.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/message.h"
#include "prague/commands.h"
#include "prague/opt_in.h"
#include "prague/own.h"
#include "prague/programs.h"

#define NOT_FOUND 127 /* as a shell says it */
#define NOT_RUN 126
#define BY_SIGNAL 128

static volatile pid_t child;

static void pass_on(int number)
{
	if (child > 0)
		kill(child, number);
}

/* The terminal's signals reach the command by themselves; those to us are passed on. It ends by
 * them or not; we end after it.
 */
static void set_signals(void (*terminals)(int), void (*ours)(int))
{
	signal(SIGINT, terminals);
	signal(SIGQUIT, terminals);
	signal(SIGTERM, ours);
	signal(SIGHUP, ours);
}

static void become(const struct own_cgroup *cgroup, char **argv)
{
	int error;

	set_signals(SIG_DFL, SIG_DFL);
	if (!own_cgroup_enter(cgroup))
		_exit(NOT_RUN);
	execvp(argv[0], argv);
	error = errno;
	fail(error, "%s: cannot be run: %s", argv[0], strerror(error));
	_exit(error == ENOENT ? NOT_FOUND : NOT_RUN);
}

static bool run_in(const struct own_cgroup *cgroup, char **argv, int *status)
{
	siginfo_t info;
	int ended;
	pid_t pid;

	set_signals(SIG_IGN, pass_on);
	pid = fork();
	if (!pid)
		become(cgroup, argv);
	if (pid < 0)
		return fail(errno, "%s: cannot be run: %s", argv[0], strerror(errno));
	child = pid;
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	child = 0; /* before its number can be another process's */
	waitpid(pid, &ended, 0);
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : BY_SIGNAL + WTERMSIG(ended);
	return true;
}

static bool run(const struct selection *selection, const struct own_cgroup *cgroup, char **argv,
		int *status)
{
	char name[PRAGUE_NAME_MAX];
	const struct opt_in wanted = { .congestion = name,
				       .to = selection->to,
				       .not_to = selection->not_to };
	const struct prague_config config = {
		.no_classic_detection = selection->no_classic_detection,
	};
	struct programs programs;
	bool done = own_prague(cgroup->tag, selection->devices, &config, name, &programs) &&
		    opt_in_attach(&wanted, cgroup->fd) && run_in(cgroup, argv, status);

	own_cgroup_remove(cgroup);
	/* Sockets may outlive their program, until the peer has all it was sent. */
	if (programs.registration >= 0)
		programs_retire(&programs);
	return done;
}

bool prague_run(const struct selection *selection, char **argv, int *status)
{
	struct own_cgroup cgroup;

	if (selection->no_classic_detection)
		fprintf(stderr, "tcp-prague: warning: " NO_DETECTION_TEXT "\n");
	own_cgroup_sweep();
	return own_cgroup_make(&cgroup) && run(selection, &cgroup, argv, status);
}

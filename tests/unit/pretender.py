# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-stats with qdiscs that are not there (pretend.c), as Python runs it."""

import contextlib
import os
import signal
import subprocess

PRETENDER = os.environ["DUALPI2_PRETENDER"]
# What is ignored stays so in a child, and `nohup make` ignores this one.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


def environment(scenario, **others):
    return os.environ | {"DUALPI2_PRETEND": scenario, "LC_ALL": "C.UTF-8"} | others


def stats(scenario, *arguments, check=True, **others):
    """Run it to its end."""
    done = subprocess.run([PRETENDER, *arguments], capture_output=True, text=True, check=False,
                          env=environment(scenario, **others), timeout=60)
    if check and done.returncode:
        raise AssertionError(f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done


@contextlib.contextmanager
def running(scenario, *arguments, **options):
    """As a process, which does not outlive a test that fails."""
    with subprocess.Popen([PRETENDER, *arguments], text=True, env=environment(scenario),
                          **options) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
            process.kill()

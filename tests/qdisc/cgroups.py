# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Control groups: of the second version, where systemd and guest-init mount them."""

from pathlib import Path

from netns import wait_until

CGROUPS = Path("/sys/fs/cgroup")


def clear(group):
    """End what is in a control group, and remove it."""
    (group / "cgroup.kill").write_text("1")
    wait_until(lambda: not (group / "cgroup.procs").read_text(), "it is empty")
    group.rmdir()

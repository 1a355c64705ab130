# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-load is killed at some of its system calls that change something; in the long version at
each, and at those that only look as well. Then the same command, run again, does what it would have
done at first.
"""

import pytest
from faults import FIRST_ONE_IN
from load_cases import CASES, check_forwarding, first_load_case, load_case, state

ALSO_REGISTERED = "pi2-hosts", "pi2-subscribers"
pytestmark = pytest.mark.oldest_kernel


def kill_at(case, calls):
    for way, call in calls:
        if way == "back":
            case.go("there")
        done = case.disturb(way, call, "signal=KILL")
        assert done.returncode == -9, (way, call, done)
        again = case.go(way, check=False)
        # Killed when all was done: there may be nothing left to unload.
        assert again.returncode == 0 or "--unload" in case.commands[way], (way, call, again)
        assert state(case.space) == case.goal(way), (way, call, again)
        check_forwarding(case.space)
        if way == "there":
            case.go("back")
    assert state(case.space) == case.before


@pytest.mark.parametrize("name", ["attach", "one rate for all queues"])
def test_first_load_killed_at_each_step(box, name, tmp_path, long):
    with first_load_case(box, name) as case:
        kill_at(case, case.calls(tmp_path, long, FIRST_ONE_IN))


@pytest.mark.parametrize("name", CASES)
def test_killed_at_each_step(registered_link, box, name, tmp_path, long):
    with load_case(box, name) as case:
        kill_at(case, case.calls(tmp_path, long))

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""dualpi2-load is refused some of its system calls that change something; in the long version each,
and those that only look as well: one line, exit status 1, and everything is as it was before; or,
where the loader can do without, exit status 0, and everything is as it should be, or will be after
the same command once more: then a line says what is not.
"""

import pytest
from conftest import one_line
from faults import ERRORS, FIRST_ONE_IN
from load_cases import CASES, check_forwarding, first_load_case, load_case, state

ALSO_REGISTERED = "pi2-hosts", "pi2-subscribers"
pytestmark = pytest.mark.oldest_kernel


def check_refused(case, way, call, done):
    if done.returncode == 0:
        if done.stderr:
            assert done.stderr.count("\n") == 1, (way, call, done)
            case.go(way)
        return
    one_line(done, 1)
    if "--unload" in case.commands[way]:  # goes as far as it can; the next one does the rest
        case.go(way, check=False)
        return
    other = "back" if way == "there" else "there"
    assert state(case.space) == case.goal(other), (way, call, done)
    check_forwarding(case.space)
    case.go(way)


def refuse_at(case, calls):
    for way, call in calls:
        if way == "back":
            case.go("there")
        done = case.disturb(way, call, f"error={ERRORS[call[0]]}")
        check_refused(case, way, call, done)
        assert state(case.space) == case.goal(way), (way, call, done)
        check_forwarding(case.space)
        if way == "there":
            case.go("back")
    assert state(case.space) == case.before


@pytest.mark.parametrize("name", ["attach"])
def test_first_load_refused_at_each_step(box, name, tmp_path, long):
    with first_load_case(box, name) as case:
        refuse_at(case, case.calls(tmp_path, long, FIRST_ONE_IN))


@pytest.mark.parametrize("name", CASES)
def test_refused_at_each_step(registered_link, box, name, tmp_path, long):
    with load_case(box, name) as case:
        refuse_at(case, case.calls(tmp_path, long))

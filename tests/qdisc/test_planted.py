# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Objects under the names of our pins that are not ours: of another version, planted, or swapped.
The kernel writes as many bytes as a map's values have."""

import contextlib
import json
import random

import pytest
from conftest import AQMS, BIN, LOADER, PI2_PINS, PIN_DIR, PUBLIC_PIN_DIR, Qdisc, one_line
from faults import SAMPLE
from findings import findings, of_kind
from netns import run
from prague_pair import UNPRIVILEGED, needs_accecn
from test_privilege import as_nobody, mode

pytestmark = pytest.mark.newest_kernel
STATS, PRAGUE, BASE_RTT = BIN / "dualpi2-stats", BIN / "tcp-prague", BIN / "tcp-base-rtt"
MARK_VALUES = BIN / "dualpi2-mark-values"
BPFFS = PIN_DIR.parent
LARGE = 65536  # bytes of a value: more than the room on any stack
# The kernel has one of their values for each CPU.
PER_CPU = {"dualpi2_abi": ("percpu_array", 4, 4), "dualpi2_live": ("percpu_hash", 16, 4)}
SHAPES = {"large values": ("array", 4, LARGE), "large keys": ("hash", 512, 4),
          "many": ("hash", 16, LARGE)}


@contextlib.contextmanager
def planted(pin, shape):
    """In place of what is pinned there."""
    kind, key, value = shape
    kept = BPFFS / "kept"
    pin.rename(kept)
    run("bpftool", "map", "create", pin, "type", kind, "key", key, "value", value, "entries", 1,
        "name", "planted")
    run("bpftool", "map", "update", "pinned", pin, "key", *[0] * key, "value", *[65] * value)
    yield
    pin.unlink()
    kept.rename(pin)


# What looks for pins.
LOAD, UNLOAD, LOOK = (LOADER, "one"), (LOADER, "one", "--unload"), (STATS, "--json")
PRAGUES = tuple((PRAGUE, command) for command in ("status", "off", "on"))


def refuses(space, *commands, told="another version"):
    """Each in one line, and no crash."""
    for command in commands:
        line = one_line(space.run(*command, check=False), 1)
        assert told in line, (command, line)


def name_unsafe(space, directory, *commands):
    """They say which directory others could have written to, not that its pins are of another
    version."""
    refuses(space, *commands, told=f"{directory}: users other than its owner and root could have "
                                   f"put pins there: `rm -r {directory}`\n")


@pytest.fixture
def prague_pins(box):
    """Of tcp-prague, which is on."""
    box.run(PRAGUE, "on")
    yield BPFFS / "tcp-prague/prague"
    box.run(PRAGUE, "off")


MAPS = ("dualpi2_abi", "dualpi2_stats", "dualpi2_delays", "dualpi2_events", "dualpi2_conf",
        "dualpi2_live", "dualpi2_flows", "dualpi2_convictions")


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_maps_of_a_registration(registered, box, shape):
    for name in MAPS:
        with planted(PI2_PINS / name, shape):
            refuses(box, LOOK, LOAD, UNLOAD)
    for name in ("dualpi2_devices", "dualpi2_priors", "dualpi2_setting"):
        with planted(PIN_DIR / "ledger" / name, shape):
            refuses(box, LOAD)


def any_shapes(count):
    """Different ones in each run; DUALPI2_SAMPLE, which the run prints, repeats them."""
    source = random.Random(SAMPLE)
    for _ in range(count):
        kind = source.choice(("array", "hash", "lru_hash", "percpu_hash", "percpu_array"))
        key = 4 if kind.endswith("array") else source.randint(1, 512)
        yield kind, key, source.randint(1, 32768)


def test_maps_of_any_shape(registered, box):
    for shape in any_shapes(8):
        for name in MAPS:
            with planted(PI2_PINS / name, shape):
                refuses(box, LOOK)


def test_maps_for_each_cpu(registered, box):
    """Of the right sizes."""
    for name, shape in PER_CPU.items():
        with planted(PI2_PINS / name, shape):
            refuses(box, LOAD)


def test_what_everybody_may_read(registered, box):
    """To those who have no other."""
    public = PUBLIC_PIN_DIR / "pi2"
    pin = public / "dualpi2_stats"
    with mode(BPFFS, 0o711):
        with planted(pin, SHAPES["large values"]):
            pin.chmod(0o444)
            refuses(box, (*UNPRIVILEGED, STATS))
        for directory in public, PUBLIC_PIN_DIR:
            with mode(directory, 0o777):
                name_unsafe(box, directory, (*UNPRIVILEGED, STATS))


@needs_accecn
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_maps_of_prague(box, prague_pins, shape):
    for name in ("version", "prague_config", "prague_sockets", "prague_classic"):
        with planted(prague_pins / name, shape):
            refuses(box, *PRAGUES)


def test_maps_of_base_rtts(box):
    box.run(BASE_RTT, "add", "10.0.0.0/8", "30ms")
    try:
        [pin] = (BPFFS / "tcp-base-rtt").glob("prefixes-*")
        with planted(pin, SHAPES["large values"]):
            refuses(box, (BASE_RTT, "list"))
    finally:
        box.run(BASE_RTT, "off")


def test_directories_that_others_may_write_to(space):
    """Below the pins."""
    space.run(LOADER, "one")
    for directory in PI2_PINS, PIN_DIR / "ledger":
        with mode(directory, 0o770):
            name_unsafe(space, directory, LOOK, LOAD, UNLOAD)


@needs_accecn
def test_directories_of_prague_that_others_may_write_to(box):
    pins = BPFFS / "tcp-prague"
    box.run(PRAGUE, "on", "--default")
    try:
        with mode(pins / "prague", 0o770):
            name_unsafe(box, pins / "prague", *PRAGUES)
    finally:
        with mode(pins / "defaults", 0o770):
            done = box.run(PRAGUE, "off", check=False)
            assert f"{pins / 'defaults'}: users other than its owner" in done.stderr
        box.run(PRAGUE, "off")


# ---- planted ----------------------------------------------------------------------------

# For each directory of pins a pin in it, and the commands that look there.
PLACES = {
    "dualpi2/pi2/registration": [(LOADER, "one"), (LOADER, "one", "--unload"), (STATS, "--events")],
    "tcp-prague/prague/prague_config": [(PRAGUE, "on"), (PRAGUE, "off"), (PRAGUE, "status"),
                                        (PRAGUE, "status", "--json")],
    "tcp-base-rtt/link-1": [(BASE_RTT, "add", "10.0.0.0/8", "30ms"), (BASE_RTT, "list"),
                            (BASE_RTT, "off")],
    "dualpi2-mark-values/link-1": [(MARK_VALUES, "one"), (MARK_VALUES, "one", "--show"),
                                   (MARK_VALUES, "one", "--unload")] if "vdq" in AQMS else [],
}


@pytest.mark.parametrize("planted_as", ["directory", "link"])
@pytest.mark.parametrize("place", PLACES)
def test_what_others_have_made(box, place, planted_as):
    """Where everybody may write to /sys/fs/bpf: commands that only read refuse it like those that
    write, and `--check` names it."""
    directory = BPFFS / place.split("/")[0]
    told = (f"{directory}: users other than its owner and root could have put pins there: "
            "`rm -r")
    with mode(BPFFS, 0o1777):
        if planted_as == "directory":
            run(*as_nobody("mkdir", "-p", BPFFS / place))
        else:
            run(*as_nobody("ln", "-s", "/tmp", directory))
        try:
            for argv in PLACES[place]:
                assert told in one_line(box.run(*argv, check=False), 1), argv
            if place.startswith("dualpi2/"):
                [missing] = of_kind(findings(box, "one"), "MISSING")
                assert told in missing
                assert json.loads(box.run(STATS, "--json").stdout) == []
            if place.startswith("tcp-prague/"):
                checked = box.run(PRAGUE, "check", check=False)
                assert f"WARNING  pins: {told}" in checked.stdout
        finally:
            run("rm", "-r", directory)


# ---- swapped ----------------------------------------------------------------------------


@contextlib.contextmanager
def swapped(pin, other):
    """Each takes the place of the other."""
    def swap():
        kept = BPFFS / "kept"
        pin.rename(kept)
        other.rename(pin)
        kept.rename(other)
    swap()
    yield
    swap()


@pytest.fixture
def codel(registered, box):
    """The registration of another AQM."""
    box.run(LOADER, "two", "--aqm", "codel")
    yield PIN_DIR / "codel/registration"
    box.run(LOADER, "two", "--unload")


def test_the_registration_of_something_else(codel, box):
    """A link of the right type, but not to what our pins are of: it would be detached."""
    box.run(LOADER, "one")
    with swapped(PI2_PINS / "registration", codel):
        refuses(box, LOOK, LOAD, UNLOAD)
    box.run(LOADER, "one", "--unload")


@needs_accecn
def test_the_registration_of_something_else_than_prague(codel, box, prague_pins):
    with swapped(prague_pins / "registration", codel):
        refuses(box, *PRAGUES)


@contextlib.contextmanager
def directory_for(pin):
    kept = BPFFS / "kept"
    pin.rename(kept)
    pin.mkdir()
    yield
    pin.rmdir()
    kept.rename(pin)


def test_what_is_no_map_of_a_registration(space):
    """Programs and links: the kernel goes on with those that were pinned there."""
    space.run(LOADER, "one")
    for name in "registration", "dualpi2_mark", "dualpi2_change", "dualpi2_find_netns":
        with planted(PI2_PINS / name, ("array", 4, 8)):
            refuses(space, LOOK, LOAD, UNLOAD)
    with swapped(PI2_PINS / "dualpi2_mark", PI2_PINS / "dualpi2_ingress"):
        refuses(space, UNLOAD)
    with swapped(PI2_PINS / "registration", Qdisc(space, "one").tcx_pin()):
        refuses(space, UNLOAD)
    assert "tcx-attached" in space.run(STATS, "one", "--json").stdout


def test_a_directory_in_the_place_of_a_pin(space):
    """The tools name it, and the command that removes it."""
    space.run(LOADER, "one")
    pins = (PI2_PINS / "registration", PI2_PINS / "dualpi2_stats",
            PIN_DIR / "ledger/dualpi2_priors")
    for pin in pins:
        with directory_for(pin):
            refuses(space, LOOK, LOAD, UNLOAD,
                    told=f"{pin}: is a directory, not a pin: `rm -r {pin}`")
    pin = Qdisc(space, "one").tcx_pin()
    with directory_for(pin):
        refuses(space, UNLOAD, told=f"`rm -r {pin}`")


def test_a_link_that_is_none(space):
    """The link may still be attached: no tool says that it is not."""
    space.run(LOADER, "one")
    pin = Qdisc(space, "one").tcx_pin()
    with planted(pin, ("array", 4, 8)):
        line = one_line(space.run(LOADER, "one", "--unload", check=False), 1)
        assert f"{pin}: is not what was pinned there" in line and f"`rm {pin}`" in line


def test_a_link_of_base_rtts_that_is_none(box):
    box.run(BASE_RTT, "add", "10.0.0.0/8", "30ms")
    [pin] = (BPFFS / "tcp-base-rtt").glob("link-*")
    with planted(pin, ("array", 4, 8)):
        refuses(box, (BASE_RTT, "off"), (BASE_RTT, "off", "--if-on"),
                told=f"{pin}: is not what was pinned there")
    with directory_for(pin):
        refuses(box, (BASE_RTT, "off"), told=f"`rm -r {pin}`")
    box.run(BASE_RTT, "off")
    assert not (BPFFS / "tcp-base-rtt").exists()


def test_what_is_not_ours_among_base_rtts(box):
    box.run(BASE_RTT, "add", "10.0.0.0/8", "30ms")
    stray = BPFFS / "tcp-base-rtt/stray"
    stray.mkdir()
    refuses(box, (BASE_RTT, "off"), (BASE_RTT, "off", "--if-on"),
            told=f"{stray}: cannot be removed: tcp-base-rtt did not make it")
    assert list(stray.parent.iterdir()) == [stray]
    stray.rmdir()
    box.run(BASE_RTT, "off", "--if-on")
    assert not stray.parent.exists()


@pytest.mark.skipif("vdq" not in AQMS, reason="built without VDQ=1")
def test_a_link_of_values_that_is_none(box):
    box.run(MARK_VALUES, "one")
    [pin] = (BPFFS / "dualpi2-mark-values").glob("link-*")
    for way, told in (planted(pin, ("array", 4, 8)), "`rm "), (directory_for(pin), "`rm -r "):
        with way:
            refuses(box, *((MARK_VALUES, "one", *option)
                           for option in ((), ("--show",), ("--unload",))), told=told + str(pin))
    box.run(MARK_VALUES, "one", "--unload")


@needs_accecn
def test_what_is_no_map_of_prague(box, prague_pins):
    for name in "registration", "prague_ect1", "prague_status":
        with planted(prague_pins / name, ("array", 4, 8)):
            refuses(box, *PRAGUES)
        with directory_for(prague_pins / name):
            refuses(box, *PRAGUES, told=f"`rm -r {prague_pins / name}`")


@needs_accecn
def test_a_link_of_prague_that_is_none(box):
    box.run(PRAGUE, "on", "--dev", "one")
    [pin] = (BPFFS / "tcp-prague/devices").iterdir()
    with planted(pin, ("array", 4, 8)):
        done = box.run(PRAGUE, "off", check=False)
        assert done.returncode == 1 and f"`rm {pin}`" in done.stderr
    box.run(PRAGUE, "off", "--if-on")
    assert not (BPFFS / "tcp-prague").exists()

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Maps that are not of the size that a tool of ours knows, under the names of ours: of another
version, or planted. The kernel writes as many bytes as a map's values have."""

import contextlib

import pytest
from conftest import BIN, LOADER, PI2_PINS, PIN_DIR, PUBLIC_PIN_DIR
from netns import run
from prague_pair import UNPRIVILEGED, needs_accecn
from test_privilege import mode

pytestmark = pytest.mark.one_kernel
STATS, PRAGUE, BASE_RTT = BIN / "dualpi2-stats", BIN / "tcp-prague", BIN / "tcp-base-rtt"
LARGE = 65536  # bytes of a value: more than the room on any stack
# The kernel has one of their values for each CPU.
PER_CPU = {"dualpi2_abi": ("percpu_array", 4, 4), "dualpi2_live": ("percpu_hash", 16, 4)}
SHAPES = {"large values": ("array", 4, LARGE), "large keys": ("hash", 512, 4),
          "many": ("hash", 16, LARGE)}


@contextlib.contextmanager
def planted(pin, shape):
    """In place of what is pinned there."""
    kind, key, value = shape
    kept = pin.with_name("kept")
    pin.rename(kept)
    run("bpftool", "map", "create", pin, "type", kind, "key", key, "value", value, "entries", 1,
        "name", "planted")
    run("bpftool", "map", "update", "pinned", pin, "key", *[0] * key, "value", *[65] * value)
    yield
    pin.unlink()
    kept.rename(pin)


def refuses(space, *command):
    """One line, and no crash."""
    done = space.run(*command, check=False)
    assert done.returncode == 1, (command, done)
    assert done.stderr.count("\n") == 1 and "another version" in done.stderr, (command, done)


MAPS = ("dualpi2_abi", "dualpi2_stats", "dualpi2_delays", "dualpi2_events", "dualpi2_conf",
        "dualpi2_live")


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_maps_of_a_registration(registered, box, shape):
    for name in MAPS:
        with planted(PI2_PINS / name, shape):
            refuses(box, STATS, "--json")
            refuses(box, LOADER, "one")
            refuses(box, LOADER, "one", "--unload")
    for name in ("dualpi2_devices", "dualpi2_priors", "dualpi2_setting"):
        with planted(PIN_DIR / "ledger" / name, shape):
            refuses(box, LOADER, "one")


def test_maps_for_each_cpu(registered, box):
    """Of the right sizes."""
    for name, shape in PER_CPU.items():
        with planted(PI2_PINS / name, shape):
            refuses(box, LOADER, "one")


def test_what_everybody_may_read(registered, box):
    """To those who have no other."""
    public = PUBLIC_PIN_DIR / "pi2"
    pin = public / "dualpi2_stats"
    with mode(PIN_DIR.parent, 0o711):
        with planted(pin, SHAPES["large values"]):
            pin.chmod(0o444)
            refuses(box, *UNPRIVILEGED, STATS)
        with mode(public, 0o777):
            refuses(box, *UNPRIVILEGED, STATS)


@needs_accecn
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_maps_of_prague(box, shape):
    pins = PIN_DIR.parent / "tcp-prague/prague"
    box.run(PRAGUE, "on")
    try:
        for name in ("version", "prague_config", "prague_sockets", "prague_classic"):
            with planted(pins / name, shape):
                for command in ("status", "off", "on"):
                    refuses(box, PRAGUE, command)
    finally:
        box.run(PRAGUE, "off")


def test_maps_of_base_rtts(box):
    box.run(BASE_RTT, "add", "10.0.0.0/8", "30ms")
    try:
        [pin] = (PIN_DIR.parent / "tcp-base-rtt").glob("prefixes-*")
        with planted(pin, SHAPES["large values"]):
            refuses(box, BASE_RTT, "list")
    finally:
        box.run(BASE_RTT, "off")

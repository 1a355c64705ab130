# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The units and the udev rule, as installed, under a real systemd: in a guest of their own
(tests/run; `lab run --systemd --overlay .output/lab/installed`)."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import commands  # noqa: E402
from netns import run, wait_until  # noqa: E402

CONF = Path("/etc/dualpi2")
PIN_DIR = Path("/sys/fs/bpf/dualpi2")
UNITS = Path("/usr/lib/systemd/system")
DASHED = "a-b"  # an interface whose name a unit's has to escape


def unit(interface):
    return run("systemd-escape", "--template=dualpi2@.service", interface).stdout.strip()


def systemctl(*arguments, check=True):
    return run("systemctl", "--no-pager", "--full", *arguments, check=check)


def state(name):
    return systemctl("show", "--property=ActiveState", "--value", name).stdout.strip()


def wait_for(name, wanted):
    wait_until(lambda: state(name) == wanted, f"{name} is {wanted}", step=1)


def root_kind(interface):
    done = run("tc", "-j", "qdisc", "show", "dev", interface, "root")
    return json.loads(done.stdout)[0]["kind"]


def options(interface):
    return json.loads(run("dualpi2-stats", interface, "--json").stdout)[0]["options"]


def add_interface(name):
    run("ip", "link", "add", name, "type", "dummy")
    run("ip", "link", "set", name, "up")


def has_interface(name):
    return run("ip", "link", "show", name, check=False).returncode == 0


@pytest.fixture
def conf():
    """Writes files of options; at the end nothing is left of them, nor of what came of them."""
    written = set()

    def write(name, text):
        path = CONF / f"{name}.conf"
        path.write_text(text, encoding="utf-8")
        written.add(path)
        return path

    yield write
    for path in written:
        path.unlink()
    systemctl("stop", "dualpi2@*")
    systemctl("reset-failed")


@pytest.fixture(scope="module")
def registered():
    """The kind stays registered meanwhile: loading the programs takes a second."""
    add_interface("anchor")
    run("dualpi2-load", "anchor")
    yield
    run("dualpi2-load", "anchor", "--unload")
    assert not PIN_DIR.exists(), "the last stop leaves nothing behind"


def with_interface(name, conf):
    """One that is there before its file is, so that only we start its unit."""
    add_interface(name)
    run("udevadm", "settle")
    yield conf
    systemctl("stop", unit(name))
    run("ip", "link", "del", name)


@pytest.fixture
def one(conf):
    yield from with_interface("one", conf)


@pytest.fixture
def wan(conf):
    """As the pages call it."""
    yield from with_interface("wan", conf)


def test_start_and_stop(one):
    before = root_kind("one")
    one("one", "# the uplink\nrate 40mbit\n--target 10ms  # shorter\n")
    systemctl("start", unit("one"))
    assert root_kind("one") == "bpf_dualpi2"
    shown = options("one")
    assert (shown["rate"], shown["target"]) == (40_000_000, 10_000)
    assert "one: bpf_dualpi2 attached, rate 40mbit" in systemctl("status", unit("one")).stdout
    systemctl("stop", unit("one"))
    assert root_kind("one") == before
    assert not PIN_DIR.exists()
    assert state(unit("one")) == "inactive"


def test_guide_shows_what_is_printed(registered, wan):
    """Its file, and the status then, but for the time."""
    [shown] = [found for block in commands.blocks() if block.page == "docs/guide.md"
               if "systemctl status dualpi2@wan" in (found := dict(block.commands))]
    wan("wan", shown["cat /etc/dualpi2/wan.conf"])
    systemctl("start", "dualpi2@wan")
    status = run("env", "LC_ALL=C.UTF-8", "systemctl", "--no-pager", "status", "dualpi2@wan").stdout
    expected = re.sub(r" since .*", " since ...", shown["systemctl status dualpi2@wan"])
    assert re.fullmatch(commands.as_shown(expected), status), status


def test_reload_is_live_and_whole(registered, one):
    """What the file has no more gets its default; the qdisc is the same one."""
    one("one", "rate 40mbit\ntarget 10ms\nany-ect\n")
    systemctl("start", unit("one"))
    before = run("tc", "qdisc", "show", "dev", "one", "root").stdout
    one("one", "rate 20mbit\ndocsis\n")
    systemctl("reload", unit("one"))
    assert run("tc", "qdisc", "show", "dev", "one", "root").stdout == before
    shown = options("one")
    assert (shown["rate"], shown["overhead"]) == (20_000_000, 18)
    assert (shown["target"], shown["ecn-mask"]) == (15_000, "l4s-ect")


def test_bad_file_is_told_in_one_line(registered, one):
    path = one("one", "rate 40mbit\n\ntarget 10parsecs\n")
    line = (f"dualpi2-load: {path}:3: --target 10parsecs: not a time "
            "(for example 15ms; 0us to 4294s)\n")
    before = root_kind("one")
    assert systemctl("start", unit("one"), check=False).returncode != 0
    assert line in systemctl("status", unit("one"), check=False).stdout
    assert state(unit("one")) == "failed"
    assert root_kind("one") == before


def test_reload_of_a_bad_file_changes_nothing(registered, one):
    one("one", "rate 40mbit\n")
    systemctl("start", unit("one"))
    before = options("one")
    path = one("one", "rate 50mbit\nrate 60mbit\n")
    assert systemctl("reload", unit("one"), check=False).returncode != 0
    assert f"{path}:2: --rate 60mbit: given twice" in systemctl("status", unit("one")).stdout
    assert state(unit("one")) == "active"
    assert options("one") == before


def test_stop_where_somebody_was_before(registered, one):
    """The service ends well although nothing is left to put back."""
    one("one", "rate 40mbit\n")
    systemctl("start", unit("one"))
    run("dualpi2-load", "one", "--unload")
    systemctl("stop", unit("one"))
    assert state(unit("one")) == "inactive"


def test_interface_comes_goes_and_comes_again(registered, conf):
    conf(DASHED, "rate 20mbit\n")
    for _ in range(2):
        add_interface(DASHED)
        wait_for(unit(DASHED), "active")
        assert root_kind(DASHED) == "bpf_dualpi2"
        assert options(DASHED)["rate"] == 20_000_000
        run("ip", "link", "del", DASHED)
        wait_for(unit(DASHED), "inactive")


def test_interface_gets_its_name_later(registered, conf):
    conf("late", "rate 20mbit\n")
    add_interface("early")
    run("ip", "link", "set", "early", "name", "late")
    wait_for(unit("late"), "active")
    assert root_kind("late") == "bpf_dualpi2"
    run("ip", "link", "del", "late")
    wait_for(unit("late"), "inactive")


def test_both_directions(registered, conf):
    conf(DASHED, "rate 20mbit\ningress\nrate 30mbit\n")
    both = unit(DASHED)
    add_interface(DASHED)
    wait_for(both, "active")
    assert options(DASHED)["rate"] == 20_000_000
    assert options(f"in-{DASHED}")["rate"] == 30_000_000
    conf(DASHED, "rate 21mbit\ningress\nrate 31mbit\n")
    systemctl("reload", both)
    conf(DASHED, "rate 22mbit\ningress\ntarget 10ms\n")
    assert systemctl("reload", both, check=False).returncode != 0
    assert "--ingress: needs --rate" in systemctl("status", both).stdout
    assert options(DASHED)["rate"] == 21_000_000
    assert options(f"in-{DASHED}")["rate"] == 31_000_000
    systemctl("stop", both)
    assert root_kind(DASHED) != "bpf_dualpi2" and not has_interface(f"in-{DASHED}")
    conf(DASHED, "ingress\nrate 30mbit\n")
    systemctl("start", both)
    assert root_kind(DASHED) != "bpf_dualpi2" and has_interface(f"in-{DASHED}")
    run("ip", "link", "del", DASHED)
    wait_for(both, "inactive")
    assert not has_interface(f"in-{DASHED}")


def test_interface_that_a_pattern_names(registered, conf):
    """Whatever it is called; and not what is made for it."""
    conf("w*", "rate 20mbit\ningress\nrate 30mbit\n")
    conf("*n-wwan?", "rate 1mbit\n")
    add_interface("wwan7")
    wait_for(unit("wwan7"), "active")
    run("udevadm", "settle")
    assert options("wwan7")["rate"] == 20_000_000
    assert options("in-wwan7")["rate"] == 30_000_000
    run("ip", "link", "del", "wwan7")
    wait_for(unit("wwan7"), "inactive")


def test_default_is_for_who_is_enabled(registered, conf):
    conf("default", "rate 20mbit\n")
    systemctl("enable", unit(DASHED))
    try:
        for name in ("two", DASHED):
            add_interface(name)
        wait_for(unit(DASHED), "active")
        assert options(DASHED)["rate"] == 20_000_000
        run("udevadm", "settle")
        assert state(unit("two")) == "inactive" and root_kind("two") != "bpf_dualpi2"
    finally:
        systemctl("disable", unit(DASHED))
        for name in ("two", DASHED):
            run("ip", "link", "del", name)
    wait_for(unit(DASHED), "inactive")


def test_interface_without_a_file_gets_nothing(registered, conf):
    add_interface("two")
    run("udevadm", "settle")
    properties = run("udevadm", "info", "/sys/class/net/two").stdout
    assert "E: TAGS=:systemd:" in properties and "SYSTEMD_WANTS" not in properties
    run("ip", "link", "del", "two")


def test_masked_unit_stays_away(registered, conf):
    conf("two", "rate 20mbit\n")
    systemctl("mask", unit("two"))
    add_interface("two")
    run("udevadm", "settle")
    assert "SYSTEMD_WANTS" in run("udevadm", "info", "/sys/class/net/two").stdout
    systemctl("is-active", "sys-subsystem-net-devices-two.device")
    assert root_kind("two") != "bpf_dualpi2"
    run("ip", "link", "del", "two")
    systemctl("unmask", unit("two"))


def test_figures_can_be_read_in_the_sandbox(registered, one):
    """By the service that writes them for node_exporter, whose directory that is."""
    one("one", "rate 20mbit\n")
    systemctl("start", unit("one"))
    directory = Path("/var/lib/prometheus/node-exporter")
    directory.mkdir(parents=True)
    systemctl("start", "dualpi2-metrics.service")
    [file] = directory.iterdir()
    assert file.name == "dualpi2.prom" and file.stat().st_mode & 0o444 == 0o444
    text = file.read_text(encoding="utf-8")
    assert ('dualpi2_shaper_rate_bytes_per_second{device="one",direction="egress",parent="root"} '
            "2500000\n" in text)
    assert 'dualpi2_configuration_known 1\n' in text
    attached = 'dualpi2_configured_attached{device="one",direction="egress"} '
    assert f"{attached}1\n" in text
    run("dualpi2-load", "one", "--unload")
    systemctl("start", "dualpi2-metrics.service")
    assert f"{attached}0\n" in file.read_text(encoding="utf-8")


def test_enabled_unit_with_just_the_default_is_configured(registered, conf):
    """As dualpi2-metrics.service tells it."""
    def told():
        return run("dualpi2-stats", "--prometheus", "--config", CONF).stdout

    conf("default", "rate 20mbit\n")
    add_interface(DASHED)
    assert DASHED not in told()
    systemctl("enable", unit(DASHED))
    assert f'dualpi2_configured_attached{{device="{DASHED}",direction="egress"}} 0\n' in told()
    systemctl("disable", unit(DASHED))
    assert DASHED not in told()
    run("ip", "link", "del", DASHED)


def test_units_and_rule_are_well_formed():
    units = sorted(UNITS.glob("dualpi2*"))
    assert len(units) == 3
    assert run("systemd-analyze", "--man=no", "verify", *units).stderr == ""
    assert "Fail:    0" in run("udevadm", "verify", "--no-style",
                               "/usr/lib/udev/rules.d/90-dualpi2.rules").stdout


def test_services_may_do_little(registered, one):
    shown = subprocess.run(["systemd-analyze", "security", "--no-pager", unit("one")],
                           capture_output=True, text=True, check=True).stdout
    # systemd's own scale: 0 (nothing) to 10 (everything); below 2.5 it says OK.
    assert float(re.search(r"exposure level .*: ([0-9.]+) ", shown)[1]) < 2.5


def test_prague_follows_its_unit():
    """tcp-prague@ has all that it needs, and what is chosen for a unit goes with it."""
    pins = Path("/sys/fs/bpf/tcp-prague")
    run("systemd-run", "--unit=sender", "sleep", "infinity")
    try:
        systemctl("start", "tcp-prague@sender")
        [chosen] = [pin.name for pin in (pins / "on").iterdir()]
        assert re.fullmatch(r"cgroup-[1-9]\d*", chosen)
        systemctl("stop", "sender")
        wait_for("tcp-prague@sender.service", "inactive")
        run("systemd-run", "--unit=sender", "sleep", "infinity")
        systemctl("start", "tcp-prague@sender")
        assert [pin.name for pin in (pins / "on").iterdir()] != [chosen]  # nor is it there still
    finally:
        systemctl("stop", "sender")
        run("tcp-prague", "off", "--if-on")
    assert not pins.exists()

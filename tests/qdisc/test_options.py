# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The command line: every option set live, in both spellings, and every bad value."""

import json
import re

import pytest
from conftest import BIN, LOADER, Qdisc, one_line
from netns import run

pytestmark = pytest.mark.oldest_kernel

LINK = {"framing": "raw", "overhead": 0, "mpu": 0}

GONE = object()

# Option, value, what that changes in the JSON options of a qdisc with defaults (GONE: the
# key goes), how --tc shows it.
SETTINGS = [
    ("rate", "40mbit", {"rate": 40_000_000}, "rate 40mbit"),
    ("raw", None, {}, "split_gso"),
    ("ethernet", None, {"framing": "network", "overhead": 38, "mpu": 84}, "overhead 38 mpu 84"),
    ("docsis", None, {"framing": "network", "overhead": 18, "mpu": 64}, "overhead 18 mpu 64"),
    ("pppoe-ptm", None, {"framing": "ptm", "overhead": 30}, "overhead 30 ptm"),
    ("overhead", "-4", {"framing": "network", "overhead": -4}, "overhead -4"),
    ("mpu", "64", {"mpu": 64}, "mpu 64"),
    ("target", "5ms", {"target": 5000}, "target 5ms"),
    ("tupdate", "1500us", {"tupdate": 1500}, "tupdate 1.5ms"),
    ("alpha", "0.15625", {"alpha": 0.15625}, "alpha 0.156250"),
    ("beta", "3.125", {"beta": 3.125}, "beta 3.125000"),
    ("max-rtt", "100ms", {"target": 16666, "tupdate": 16666, "alpha": 0.164062, "beta": 3},
     "target 16.7ms tupdate 16.7ms alpha 0.164062 beta 3.000000"),
    ("typical-rtt", "15ms", {"tupdate": 15000, "alpha": 0.183594, "beta": 3.33203},
     "target 15ms tupdate 15ms alpha 0.183594 beta 3.332031"),
    ("coupling-factor", "4", {"coupling": 4, "p-cmax": 0.0625}, "coupling_factor 4"),
    ("step-thresh", "5p", {"step-thresh-us": GONE, "step-thresh-pkts": 5}, "step_thresh 5p"),
    ("step-thresh", "700us", {"step-thresh-us": 700}, "step_thresh 700us"),
    ("min-qlen-step", "7", {"min-qlen-step": 7}, "min_qlen_step 7p"),
    ("classic-protection", "25%", {"c-protection": 25}, "classic_protection 25%"),
    ("limit", "1234", {"limit": 1234, "memory-limit": 2 * 1234 * 1514},
     "limit 1234p memlimit 3736552B"),
    ("memlimit", "2m", {"memory-limit": 2 << 20}, "memlimit 2097152B"),
    ("drop-on-overload", None, {}, "drop_on_overload"),
    ("overflow", None, {"drop-overload": "overflow"}, "overflow"),
    ("drop-dequeue", None, {}, "drop_dequeue"),
    ("drop-enqueue", None, {"drop-early": "drop-enqueue"}, "drop_enqueue"),
    ("l4s-ect", None, {}, "l4s_ect"),
    ("any-ect", None, {"ecn-mask": "any-ect"}, "any_ect"),
    ("split-gso", None, {}, "split_gso"),
    ("no-split-gso", None, {"split-gso": GONE}, "no_split_gso"),
    ("no-l4s", None, {"ecn-mask": "no-l4s"}, "no_l4s"),
    ("l4s-dscp", "ef,nqb,50", {"l4s-dscp": [45, 46, 50]}, "l4s_dscp nqb,ef,50"),
    ("classic-dscp", "le", {"classic-dscp": [1]}, "classic_dscp le"),
    ("l-aqm", "ramp", {"l-aqm": "ramp"}, "l_aqm ramp"),
    ("p-cmax", "12.5%", {"p-cmax": 0.125}, "p_cmax 12.5%"),
    ("auto-split-gso", None, {"split-gso": "auto"}, "auto_split_gso"),
]

# What --help calls the value: values that are too low, too high, no number, of a wrong unit. The
# edges of the ranges are for tests/unit/test_params.py.
BAD_VALUES = {
    "RATE": ("7999", "1.1tbit", "fast", "40ms"),
    "TIME": ("-1us", "4294967296us", "soon", "15mbit"),
    "TIME|Np": ("-1ms", "4294967296p", "soon", "1mbit"),
    "HANDLE": ("0:", "ffff:", "seven", "8002:1"),
    "HZ": ("0", "32768", "high", "3.2ms"),
    "N": ("0", "65536", "two", "2ms"),
    "PACKETS": ("-1", "4294967296", "many", "5ms"),
    "BYTES": ("-65", "4294967296", "much", "64ms"),
    "PERCENT": ("-1", "100.1", "all", "25ms"),
    "LIST": ("-1", "64", "best", "46ms"),
    "step|ramp": ("0", "2", "red", "1ms"),
}

CONTRADICTIONS = [
    ("--l4s-ect --any-ect", "--any-ect", "--l4s-ect"),
    ("--any-ect --no-l4s", "--no-l4s", "--any-ect"),
    ("--drop-on-overload overflow", "--overflow", "--drop-on-overload"),
    ("drop_enqueue drop_dequeue", "--drop-dequeue", "--drop-enqueue"),
    ("--docsis --raw", "--raw", "--docsis"),
    ("--raw --overhead 4", "--overhead 4", "--raw"),
    ("--overflow --overflow", "--overflow", "twice"),
    ("--l4s-dscp ef,45 --classic-dscp nqb", "--l4s-dscp", "nqb"),
    ("--max-rtt 10ms --typical-rtt 20ms", "--typical-rtt 20ms", "--max-rtt 10ms"),
    ("--max-rtt 10s", "--max-rtt 10s", "alpha"),
    ("--alpha 9 --max-rtt 100ms", "--alpha 9", ": --max-rtt sets it, too: give one of them\n"),
    ("--typical-rtt 1us", "--typical-rtt 1us", "beta"),
    ("target 5ms --target 6ms", "--target 6ms", "twice"),
    ("target", "--target", "missing"),
    ("--rate", "--rate", "missing"),
    ("--overflow=1", "--overflow", "no value"),
    ("splt_gso", "splt_gso", "unexpected argument"), ("splt_gso", "did you mean", "--split-gso?"),
    ("split_gso --no-split-gso", "--no-split-gso", "--split-gso"),
    ("two", "two", "unexpected argument"),
]


@pytest.fixture
def qdisc(registered, box):
    qdisc = Qdisc(box, "one")
    qdisc.load()
    yield qdisc
    qdisc.load("--unload")


def spelled(name, value):
    return [f"--{name}", *([] if value is None else [value])]


def load_line(qdisc, line, check=True):
    return qdisc.load(*line.split(), check=check)


def tc_text(qdisc):
    return qdisc.space.run(BIN / "dualpi2-stats", qdisc.dev, "--tc").stdout


def help_options():
    """Options of dualpi2-load by its own help: name and what it calls the value, or "". Those of
    AQMs that only tests have are none of a qdisc with defaults."""
    text = run(LOADER, "--help", "all").stdout
    text = re.sub(r"^AQM (?!pi2).*?\n\n", "", text, flags=re.M | re.S)
    return dict(re.findall(r"^ .{3,5} --([a-z0-9-]+) ?([A-Za-z]+(?:\|[A-Za-z]+)?|)(?: |$)",
                           text, re.M))


# What a file of --config has to be: tests/unit/test_config.py. --aqm, and what --handle does:
# test_aqm_choice.py. --per-host, and what --hosts and --host-prefix do: test_hosts.py.
# Subscribers: test_subscribers_file.py.
VALUED = {name: value for name, value in help_options().items()
          if value and name not in ("config", "aqm", "subscribers", "subscriber")}


def test_the_tables_have_every_option():
    assert {name for name, *_ in SETTINGS} <= set(help_options())
    elsewhere = {"handle", "hosts", "host-prefix"}
    assert set(VALUED) - elsewhere <= {name for name, *_ in SETTINGS}
    assert set(VALUED.values()) == set(BAD_VALUES)


@pytest.mark.parametrize("name, value, changes, tc", SETTINGS,
                         ids=[" ".join(spelled(*row[:2])) for row in SETTINGS])
def test_every_option_shows(qdisc, name, value, changes, tc):
    before = qdisc.stats()["options"]
    done = qdisc.load(*spelled(name, value))
    assert done.stdout.count("\n") == 1 and name in done.stdout
    expected = {key: shown for key, shown in {**before, **changes}.items() if shown is not GONE}
    assert qdisc.stats()["options"] == expected
    assert f" {tc} " in tc_text(qdisc).splitlines()[0] + " "


def test_every_option_at_once_in_both_spellings(qdisc):
    """What tc's words mean, in any mixture, is what the options mean."""
    chosen = {name: value for name, value, changes, _ in SETTINGS
              if changes and name not in ("ethernet", "docsis", "max-rtt", "typical-rtt",
                                          "no-l4s", "auto-split-gso")}
    options, words = [], []
    for number, (name, value) in enumerate(chosen.items()):
        options += spelled(name, value)
        spelling = (f"--{name}", name, name.replace("-", "_"))[number % 3]
        words += [spelling, *spelled(name, value)[1:]]
    qdisc.load(*options)
    shown = qdisc.stats()["options"]
    assert shown["framing"] == "ptm" and shown["overhead"] == -4
    other = Qdisc(qdisc.space, "two")
    other.load(*words)
    assert other.stats()["options"] == shown
    other.load("--unload")


def test_a_line_of_tc(qdisc):
    load_line(qdisc, "limit 1000 memlimit 3000000 coupling_factor 3 step_thresh 5packets "
                     "min_qlen_step 2 overflow drop_enqueue any_ect classic_protection 20% "
                     "target 10ms tupdate 8ms alpha 0.32 beta 2.5 no_split_gso")
    options = qdisc.stats()["options"]
    assert options["limit"] == 1000 and options["memory-limit"] == 3_000_000
    assert options["step-thresh-pkts"] == 5 and options["ecn-mask"] == "any-ect"
    assert options["target"] == 10_000 and options["beta"] == 2.5


def test_rtts_set_others_and_are_told(qdisc):
    done = load_line(qdisc, "target 15ms max_rtt 100ms typical_rtt 15ms")
    assert ("max-rtt 100ms, typical-rtt 15ms, target 15ms, tupdate 15ms, alpha 0.148438, "
            "beta 3.000000") in done.stdout
    assert qdisc.stats()["options"]["target"] == 15_000


@pytest.mark.parametrize("options, hinted", [
    (("--target", "15"), "--target 15 is 15us"),
    (("target", "15", "--step-thresh", "2"), "--step-thresh 2 is 2us"),
    (("--rate", "40000"), "--rate 40000 is 40000bit/s"),
    (("--target", "15us"), None), (("--target", "1000"), None), (("--step-thresh", "1p"), None),
    (("--limit", "15"), None), (("--rate", "40kbit"), None), (("--rate", "1000000"), None),
    (("--rate", "0"), None),
])
def test_little_without_a_unit_is_told(qdisc, options, hinted):
    """tc reads microseconds and bit/s, and few mean them."""
    for more in ((), ("--check",)):
        told = qdisc.load(*options, *more).stdout
        assert ("give a unit" in told) == bool(hinted)
        assert not hinted or hinted in told


@pytest.mark.parametrize("options, told", [
    ("--rate 40mbps", "hint --rate 40mbps is 320mbit: in tc's words bps, kbps, mbps are bytes"),
    ("--limit 1", "WARNING limit 1: while a packet waits all others are dropped"),
    ("--memlimit 1", "WARNING memlimit 1 has no room for two full packets"),
    ("--rate 8kbit", "WARNING rate 8kbit: a full packet takes 1.51s"),
    ("--rate 10gbit", "WARNING limit 10000: at 10gbit so many full packets take less than the "
                      "target of 15ms: give 25000 or more"),
    ("--rate 300kbit", "WARNING target 15ms is shorter than the 40.4ms of a full packet at "
                       "300kbit, so one that waits for another is late: give --target 61ms"),
    ("--rate 300kbit --target 61ms", None), ("--limit 2", None), ("--memlimit 6056", None),
])
def test_values_that_make_a_link_useless_are_told(qdisc, options, told):
    """When they are given and by --check; and those in force, by the table."""
    for more in ("", " --check"):
        shown = " ".join(load_line(qdisc, options + more).stdout.split())
        assert re.sub(r"^(hint|WARNING)", "", told or "") in shown
        assert told or not re.search(r"WARNING|are bytes|warning", shown)
    if told and told.startswith("WARNING"):
        assert f"warning: {told.removeprefix('WARNING ')}" in " ".join(qdisc.table().split())


def test_command_line_counts_more_than_a_file(qdisc, tmp_path):
    path = tmp_path / "one.conf"
    path.write_text("rate 40mbit\nany-ect\ntarget = 5ms\n")
    qdisc.load("--config", path, "--rate", "1mbit", "--l4s-ect")
    options = qdisc.stats()["options"]
    assert (options["rate"], options["target"]) == (1_000_000, 5000)
    assert options["ecn-mask"] == "l4s-ect"


def test_limit_renews_memlimit(qdisc):
    qdisc.load("--memlimit", 5000)
    qdisc.load("--limit", 100)
    assert qdisc.stats()["options"]["memory-limit"] == 2 * 100 * 1514
    qdisc.load("--limit", 200, "--memlimit", 5000)
    assert qdisc.stats()["options"]["memory-limit"] == 5000


def test_dscp_lists_stay_apart_live(qdisc):
    qdisc.load("--l4s-dscp", "nqb,ef")
    line = one_line(qdisc.load("--classic-dscp", "ef,le", check=False), 2)
    assert "--classic-dscp" in line and "ef" in line
    assert qdisc.stats()["options"]["classic-dscp"] == []
    qdisc.load("--l4s-dscp", "none", "--classic-dscp", "ef,le")
    assert qdisc.stats()["options"]["l4s-dscp"] == []
    assert qdisc.stats()["options"]["classic-dscp"] == [1, 46]


@pytest.mark.parametrize("name", VALUED)
def test_bad_value_changes_nothing(qdisc, name):
    """Each is told with the same example, which is a good value, and the same range."""
    before = qdisc.stats()["options"]
    good, limits = re.search(r"\(for example ([^ ;]+).*?; (.+)\)$",
                             one_line(qdisc.load(f"--{name}", check=False), 2)).groups()
    for value in (*BAD_VALUES[VALUED[name]], ""):
        line = one_line(qdisc.load(f"--{name}", value, check=False), 2)
        assert line.startswith(f"dualpi2-load: --{name} {value or "''"}: ")
        assert f"(for example {good}" in line and line.endswith(f"; {limits})\n")
        assert one_line(qdisc.load(name.replace("-", "_"), value, check=False), 2) == line
    line = one_line(qdisc.load(f"--{name}", good, f"--{name}", good, check=False), 2)
    assert f"--{name} {good}: given twice" in line
    assert qdisc.stats()["options"] == before
    qdisc.load(f"--{name}", good)


@pytest.mark.parametrize("arguments, named, also", CONTRADICTIONS,
                         ids=[row[0] for row in CONTRADICTIONS])
def test_contradiction_changes_nothing(qdisc, arguments, named, also):
    before = qdisc.stats()["options"]
    line = one_line(load_line(qdisc, arguments, check=False), 2)
    assert named in line and also in line
    assert qdisc.stats()["options"] == before


def test_tc_text_is_that_of_tc(qdisc):
    """Line by line: the head and the counters as tc prints those of our qdisc, the rest as
    iproute2's q_dualpi2.c prints that of a native one."""
    shown = qdisc.space.run("tc", "-s", "qdisc", "show").stdout.splitlines()
    at = next(i for i, line in enumerate(shown) if "bpf_dualpi2" in line)
    lines = tc_text(qdisc).split("\n")
    assert lines[0] == shown[at].rstrip() + (
        " limit 10000p memlimit 30280000B target 15ms tupdate 16ms alpha 0.160156 "
        "beta 3.199219 step_thresh 1ms min_qlen_step 0p coupling_factor 2 drop_on_overload "
        "drop_dequeue classic_protection 10% l4s_ect split_gso ")
    assert lines[1:3] == shown[at + 1:at + 3]
    assert lines[3:] == ["prob 0.000000 delay_c 0us delay_l 0us",
                         "pkts_in_c 0 pkts_in_l 0 maxq 0",
                         "ecn_mark 0 step_mark 0",
                         f"credit {qdisc.stats()['credit']} (L-queue)",
                         "memory_used 0 (max 0) of memory limit 30280000", "", ""]


def test_one_output_at_a_time(box):
    for pair in ("--tc --json", "--events --tc"):
        done = box.run(BIN / "dualpi2-stats", *pair.split(), check=False)
        assert "excludes" in one_line(done, 2)


def test_json_types(qdisc):
    stats = json.loads(qdisc.space.run(BIN / "dualpi2-stats", "one", "--json").stdout)[0]
    assert stats["overload"] == {"events": 0, "active": False, "last-start": None,
                                 "last-duration": 0, "total": 0}
    assert stats["mispredicted"] == 0
    assert stats["refcnt"] == qdisc.tc()["refcnt"]
    assert {key: stats["options"][key] for key in LINK} == LINK


def test_table_shows_what_differs(qdisc):
    assert "not default" not in qdisc.table()
    load_line(qdisc, "--any-ect --l4s-dscp ef,nqb --limit 77 --alpha 0.2 --beta 2 --overflow "
                     "--tupdate 17ms --min-qlen-step 3 --coupling-factor 5 --l-aqm ramp")
    table = qdisc.table()
    listed = re.search(r"^  not default: (.*?)$\n  p'", table, re.M | re.S).group(1)
    assert sorted(re.split(r",\s+", listed)) == sorted([
        "any-ect", "l4s-dscp nqb,ef", "limit 77p", "alpha 0.199219", "beta 2.000000", "overflow",
        "tupdate 17ms", "min-qlen-step 3", "coupling-factor 5", "l-aqm ramp"])
    assert max(len(line) for line in table.splitlines()) <= 80

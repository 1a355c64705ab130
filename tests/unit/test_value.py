# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Values as tc writes them, read by user/cli/value.c: some by hand, and against the model over
random inputs; and what value.c and user/cli/format.c write. (tests/fuzz/fuzz_value.c reads beyond
no text.)
"""

import math
from fractions import Fraction

import model
import pytest
from clib import ONE, C, ffi, new
from hypothesis import given
from hypothesis import strategies as st

GAIN_MAX = 2**23 - 1  # 1/256 Hz
HUGE = 2**60  # every parser's results are exact below
U64_MAX, I64_MAX = 2**64 - 1, 2**63 - 1
UNTOUCHED = 0xDEAD


def spec(name):
    """Any value of a kind."""
    low, high = (-2**63, I64_MAX) if name == "overhead" else (0, -1)  # -1: U64_MAX
    return new("option_spec", kind=getattr(C, f"KIND_{name.upper()}"), min=low, max=high)


def parse_c(name, text):
    value = ffi.new("uint64_t *", UNTOUCHED)
    if C.value_read(spec(name), text.encode(), value) != C.VALUE_OK:
        assert value[0] == UNTOUCHED
        return None
    return value[0]


def dscps(*numbers):
    return sum(1 << number for number in numbers)


ACCEPTED = {
    "number": {"0": 0, "10000": 10000, "007": 7, "18446744073709551615": U64_MAX,
               "18446744073709551616": U64_MAX,
               "340282366920938463463374607431768211457": U64_MAX},
    "rate": {"40mbit": 5_000_000, "40Mbit": 5_000_000, "1.5gbit": 187_500_000, "500kibit": 64000,
             "8000": 1000, "8000bit": 1000, "5mbps": 5_000_000, "1mibps": 2**20,
             "1gibit": 2**27, "1tbit": 125 * 10**9, "1tibps": 2**40, "12bit": 1, "0": 0,
             "0.0kbit": 0, "1bit": 1, "0.0000000001bit": 1, "99999999999999999999gbit": U64_MAX},
    "time": {"15ms": 15_000_000, "500us": 500_000, "500": 500_000, "1.5s": 1_500_000_000,
             "15msecs": 15_000_000, "15msec": 15_000_000, "1sec": 10**9, "2SECS": 2 * 10**9,
             "3usecs": 3000, ".5ms": 500_000, "1.ms": 1_000_000, "0.0015us": 1, "0.000000001s": 1,
             "0.9999999999s": 999_999_999, "0": 0, "18446744073.709551615s": U64_MAX,
             "18446744073.709551614s": U64_MAX - 1, "18446744074s": U64_MAX},
    "handle": {"8002:": 0x8002, "8002": 0x8002, "1:": 1, "FFFF:": 0xFFFF, "0x10:": 16,
               "123456789abcdef0123:": U64_MAX},
    "size": {"30000000": 30_000_000, "64k": 2**16, "64kb": 2**16, "32mb": 2**25, "1g": 2**30,
             "100kbit": 12800, "1mbit": 2**17, "1.5k": 1536, "7b": 7},
    "percent": {"10": 10, "10%": 10, "101%": 101},
    "gain": {"0.16": 41, "3.2": 819, "0.160156": 41, "3.199219": 819, "1": 256, "0": 0,
             "0.001953124": 0, "0.001953125": 1},
    "step": {**dict.fromkeys(("5p", "5pkt", "5pkts", "5packets", "5PACKETS"),
                             C.STEP_IN_PACKETS | 5), "1packet": C.STEP_IN_PACKETS | 1,
             "1ms": 1_000_000, "200": 200_000, "9223372036854775808us": C.STEP_IN_PACKETS - 1},
    "overhead": {"-64": 2**64 - 64, "256": 256, "99999999999999999999": I64_MAX,
                 "-99999999999999999999": 2**64 - I64_MAX},
    "share": {"100%": ONE - 1, "25": ONE // 4, "0.5%": 21_474_836, "0.00000003": 1,
              "0.00000002": 0, "99999999999999999999": U64_MAX},
    "dscps": {"none": 0, "0": 1, "63": dscps(63), "ef,45,nqb": dscps(46, 45),
              "VA,voice-admit": dscps(44), "df,le,cs1": dscps(0, 1, 8),
              "cs0,cs2,cs3,cs4,cs5,cs6,cs7": dscps(0, 16, 24, 32, 40, 48, 56),
              "af11,af12,af13,af21,af22,af23": dscps(10, 12, 14, 18, 20, 22),
              "af31,af32,af33,af41,af42,af43": dscps(26, 28, 30, 34, 36, 38)},
}
REFUSED = {
    "number": ["1.0", "10p", "0x10"],
    "rate": ["40m", "40 mbit", "40mbits", "mbit", "1e6", "40%"],
    "time": ["15m", "15 ms", "1h", "1.5.5s", "1,5ms", "ms", "5p"],
    "handle": ["", ":", "-1:", " 1:", "8002:1", "wan:"],
    "size": ["64kib", "1x"],
    "percent": ["10%%", "10.5", "%"],
    "gain": ["0.16hz", "41/256"],
    "step": ["1.5p", "5 packets", "p", "5px", "ms"],
    "overhead": ["", "-", "+1", "--1", "1.5", "-1b", " -1", "- 1"],
    "share": ["25%%", "1/4"],
    "dscps": ["64", "ef,", ",ef", "ef,,va", "ef va", "none,ef", "af14", "cs8", "voice-admitted-to"],
}
# None of these takes any of those.
PLAIN = set(ACCEPTED) - {"handle", "overhead"}
NEVER_TAKEN = ["", " ", "-1", "+1", ".", "..5", "abc", "-1ms", "1 ", " 1", "1\n", "nan", "inf",
               "0x1", "1e3", "1.2.3", "--1", "1-", "%", "1;ls"]


@pytest.mark.parametrize("name", ACCEPTED)
def test_values_by_hand(name):
    assert {text: parse_c(name, text) for text in ACCEPTED[name]} == ACCEPTED[name]
    refused = REFUSED[name] + (NEVER_TAKEN if name in PLAIN else [])
    assert {text: parse_c(name, text) for text in refused} == dict.fromkeys(refused)


def cut(value):
    return None if value is None else math.floor(value)


def parse_rate(text):
    value = model.parse(text, model.RATE_UNITS)
    return max(cut(value), 1) if value else value  # what is not 0 does not become 0


def parse_gain(text):
    value = model.parse(text, {"": 256})
    return None if value is None else math.floor(value + Fraction(1, 2))


def parse_step(text):
    packets = cut(model.parse(text, model.PACKET_UNITS, whole=True))
    if packets is None:
        return cut(model.parse(text, model.TIME_UNITS))
    return packets | C.STEP_IN_PACKETS if packets < 2**32 else None


PARSERS = {
    "number": lambda text: cut(model.parse(text, {"": 1}, whole=True)),
    "rate": parse_rate,
    "time": lambda text: cut(model.parse(text, model.TIME_UNITS)),
    "size": lambda text: cut(model.parse(text, model.SIZE_UNITS)),
    "percent": lambda text: cut(model.parse(text, {"": 1, "%": 1}, whole=True)),
    "gain": parse_gain,
    "step": parse_step,
}
SUFFIXES = sorted(
    {*model.RATE_UNITS, *model.TIME_UNITS, *model.SIZE_UNITS, *model.PACKET_UNITS, "%", "x", "ss"}
)


@st.composite
def values_with_a_unit(draw):
    whole = draw(st.one_of(st.integers(0, 10_000), st.integers(0, 2**50)))
    fraction = draw(st.one_of(st.just(""), st.from_regex(r"\.[0-9]{0,9}", fullmatch=True)))
    suffix = draw(st.sampled_from(SUFFIXES))
    if draw(st.booleans()):
        suffix = suffix.upper()
    return f"{whole}{fraction}{suffix}"


@pytest.mark.parametrize("name", PARSERS)
@given(
    st.one_of(
        values_with_a_unit(),
        st.text(alphabet="0159.kmgtbispuce%-+ Ee", max_size=8),
        st.integers(2**50, 2**140).map(str),
    )
)
def test_parser_reads_what_the_model_reads(name, text):
    """Exactly, for numbers of up to 9 decimals. What is out of all reason is only told
    to be so: far above the highest value that an option takes.
    """
    expected = PARSERS[name](text)
    read = parse_c(name, text)
    if expected is not None and expected >= HUGE:
        assert read >= HUGE
    else:
        assert read == expected


def written(function, *arguments):
    """The text that a function writes; None if it has none to write."""
    room = ffi.new("char[]", C.OPTION_TEXT_MAX)
    text = function(*arguments, room)
    return ffi.string(text).decode() if text else None


def formatted(name, value):
    return written(C.value_format, spec(name), value)


@given(st.integers(1, 125_000_000_000))  # 0 is "unlimited"
def test_rate_reads_back(rate):
    assert parse_c("rate", formatted("rate", rate)) == rate


@given(st.integers(0, (2**32 - 1) * 1000))
def test_time_reads_back(ns):
    assert parse_c("time", formatted("time", ns)) == ns


@given(st.integers(0, GAIN_MAX))
def test_gain_reads_back(hz256):
    assert parse_c("gain", formatted("gain", hz256)) == hz256


def test_dscps_read_back():
    named = 0
    for number in range(64):
        text = formatted("dscps", 1 << number)
        named += text[0] > "9"
        assert parse_c("dscps", text) == 1 << number
    assert named == 8 + 12 + 4  # cs, af, and le, va, nqb, ef


FORMATTED = {
    C.format_rate: {5_000_000: "40mbit", 187_500_000: "1.5gbit", 1: "8bit"},
    C.format_time: {15_000_000: "15ms", 0: "0us", 1500: "1.5us", 1_000_000_001: "1.000000001s"},
    C.format_class: {0x80020001: "8002:1"},
    C.format_count: {99999: "99999", 1_230_000: "1.23M", 999_600: "1.00M"},
    C.format_delay: {0: "0us", 5: "0.01us", 14_940_000: "14.9ms", 9_996_000: "10.0ms",
                     999_499: "999us", 999_501: "1.00ms", U64_MAX: "18446744074s"},
    # A counter of another build may hold anything: 2^64 bytes within a nanosecond.
    C.format_speed: {0: "0bit", 823.6: "824bit", 999.6: "1.00kbit", 24.1e6: "24.1mbit",
                     8e9 * 2**64: "147573952589676416tbit"},
}


def test_what_is_written_for_people():
    for function, texts in FORMATTED.items():
        for value, text in texts.items():
            assert written(function, value) == text
            assert len(text) < C.FORMAT_MAX
    assert written(C.format_share, 123, 1000) == "12.3 %"
    assert written(C.format_share, 5, 10000) == "0.05 %"
    assert written(C.format_share, 0, 0) == "-"


@pytest.mark.parametrize("name, text, meant", [
    ("time", "15", "15us"), ("time", ".5", ".5us"), ("step", "2", "2us"), ("rate", "40", "40bit/s"),
    ("time", "15us", None), ("time", "0", None), ("time", "0.0", None), ("step", "5p", None),
    ("rate", "4kbit", None), ("number", "15", None), ("size", "64", None), ("time", "", None)])
def test_number_without_a_unit(name, text, meant):
    """Of a kind that has units."""
    assert written(C.value_bare, spec(name), text.encode()) == meant


@pytest.mark.parametrize("name, text, told", [
    ("rate", "40mbps", "320mbit: in tc's words"), ("rate", "1.5GBps", "12gbit: in tc's words"),
    ("rate", "1000bps", "8kbit: in tc's words"), ("rate", "40kibps", "327.68kbit: in tc's words"),
    ("rate", "9000", "9000bit/s: give a unit"), ("time", "15", "15us: give a unit"),
    ("rate", "40mbit", ""), ("rate", "bps", ""), ("rate", "0", ""), ("time", "15ms", ""),
    ("packets", "15", "")])
def test_units_that_surprise(name, text, told):
    """Where tc's units are not those that people know. `told`: how it begins, if it does."""
    told_c = written(C.value_surprise, spec(name), text.encode())
    assert told_c.startswith(told) if told else told_c is None

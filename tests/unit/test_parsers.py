# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The parsers of user/cli/value.c against the model, over random inputs."""

import math
from fractions import Fraction

import model
import pytest
from clib import C, ffi, new
from hypothesis import given
from hypothesis import strategies as st

GAIN_MAX = 2**23 - 1  # 1/256 Hz
HUGE = 2**60  # every parser's results are exact below


def spec(name):
    """Any value of a kind that begins at 0."""
    return new("option_spec", kind=getattr(C, f"KIND_{name.upper()}"), max=-1)  # UINT64_MAX


def parse_c(name, text):
    value = ffi.new("uint64_t *", 0xDEAD)
    if C.value_read(spec(name), text.encode(), value) != C.VALUE_OK:
        assert value[0] == 0xDEAD
        return None
    return value[0]


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


def formatted(name, value):
    text = ffi.new("char[]", C.OPTION_TEXT_MAX)
    return ffi.string(C.value_format(spec(name), value, text)).decode()


@given(st.integers(1, 125_000_000_000))  # 0 is "unlimited"
def test_rate_reads_back(rate):
    assert parse_c("rate", formatted("rate", rate)) == rate


@given(st.integers(0, (2**32 - 1) * 1000))
def test_time_reads_back(ns):
    assert parse_c("time", formatted("time", ns)) == ns


@given(st.integers(0, GAIN_MAX))
def test_gain_reads_back(hz256):
    assert parse_c("gain", formatted("gain", hz256)) == hz256

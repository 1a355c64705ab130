# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The histogram of include/histogram.h: its buckets, and quantiles read back."""

from fractions import Fraction

import model
import pytest
from clib import C, ffi, new
from hypothesis import example, given
from hypothesis import strategies as st

US, MS = 1000, 1_000_000  # ns
BUCKETS = C.HISTOGRAM_BUCKETS
U64_MAX = 2**64 - 1
EDGES = model.histogram_edges()
recorded_ns = st.one_of(
    st.integers(0, 5000),
    st.integers(0, 100_000_000),
    st.integers(0, 2**33 - 1),
    st.sampled_from(EDGES[:-1]),
)


def histogram_of(values):
    histogram, octave = new("dualpi2_histogram"), ffi.new("__u32 *")
    for value in values:
        C.histogram_record(histogram, value, octave)
    return histogram


@pytest.mark.parametrize("log", range(32))
def test_log2_of_all_powers(log):
    assert C.lg_floor(2**log) == C.lg_floor(2 * 2**log - 1) == log


# 128 ns, then eighths of 1.024, 2.048, ... us.
@pytest.mark.parametrize("index, edge", [(0, 0), (1, 128), (8, 1024), (9, 1024 + 128), (16, 2048),
                                         (17, 2048 + 256), (BUCKETS, 2**33)])
def test_edges_are_where_the_comment_says(index, edge):
    assert C.histogram_edge(index) == edge


def test_edges_are_those_of_the_model():
    assert [C.histogram_edge(i) for i in range(BUCKETS + 1)] == EDGES


@given(st.one_of(recorded_ns, st.integers(0, U64_MAX)))
def test_value_is_in_its_bucket(ns):
    assert C.histogram_index(ns) == model.bucket_of(EDGES, ns)


@given(st.lists(st.one_of(recorded_ns, st.integers(0, U64_MAX)), max_size=20))
def test_each_value_is_recorded_in_its_bucket(values):
    """Whatever the one before was."""
    expected = [0] * BUCKETS
    for value in values:
        expected[model.bucket_of(EDGES, value)] += 1
    assert list(histogram_of(values).bucket) == expected


@given(
    st.lists(recorded_ns, min_size=1, max_size=200),
    st.one_of(st.integers(0, 1000), st.sampled_from([500, 990, 999, 1000])),
)
def test_quantile_is_near_that_of_the_sorted_list(values, permille):
    histogram = histogram_of(values)
    exact = model.nearest_rank(values, permille)
    read = C.histogram_quantile(histogram, permille)
    assert abs(read - exact) <= max(64, Fraction(exact, 16))
    assert read <= max(values)


@given(st.lists(st.integers(0, 2**40), max_size=100))
@example([300 * US, 7 * MS + 1, 0])
def test_sum_count_and_maximum_are_exact(values):
    histogram = histogram_of(values)
    assert C.histogram_count(histogram) == len(values)
    assert histogram.sum_ns == sum(values)
    assert histogram.max_ns == max(values, default=0)


@pytest.mark.parametrize("index", range(BUCKETS))
def test_a_bucket(index):
    """It reaches from its edge to just below the next one, and its middle is near both."""
    low, high = C.histogram_edge(index), C.histogram_edge(index + 1)
    assert low < high
    assert C.histogram_index(low) == C.histogram_index(high - 1) == index
    half = (high - low) // 2
    assert half == 64 if low < 1024 else half * 16 <= low


def test_too_long_delays_go_to_the_last_bucket():
    h = histogram_of([2**33, 20 * model.SECOND, U64_MAX // 2])
    assert h.bucket[BUCKETS - 1] == C.histogram_count(h) == 3
    assert h.max_ns == U64_MAX // 2
    assert C.histogram_quantile(h, 500) >= C.histogram_edge(BUCKETS - 1)


def test_nothing_recorded():
    h = histogram_of([])
    assert C.histogram_count(h) == C.histogram_quantile(h, 990) == 0


def quantile_index(h, permille):
    return C.histogram_index(C.histogram_quantile(h, permille))


@pytest.mark.parametrize("permille, rank", [(0, 1), (1, 1), (100, 1), (101, 2), (500, 5), (501, 6),
                                            (900, 9), (901, 10), (999, 10), (1000, 10)])
def test_quantile_is_by_nearest_rank(permille, rank):
    """10 values, one a bucket: the k-th smallest is the one of rank ceil(10 * q)."""
    h = histogram_of([k << 11 for k in range(1, 11)])
    assert quantile_index(h, permille) == C.histogram_index(rank << 11)


def test_one_slow_packet_in_a_thousand():
    """P99.9 leaves one in a thousand above it, and not two in 1001."""
    fast, slow = C.histogram_index(100 * US), C.histogram_index(50 * MS)
    h = histogram_of([100 * US] * 999 + [50 * MS])
    assert [quantile_index(h, permille) for permille in (999, 1000)] == [fast, slow]
    assert quantile_index(histogram_of([100 * US] * 999 + [50 * MS] * 2), 999) == slow


def test_quantile_is_never_above_the_maximum():
    """The bucket's middle is 1088."""
    h = histogram_of([1024])
    assert C.histogram_quantile(h, 500) == C.histogram_quantile(h, 1000) == 1024


def test_large_counts_do_not_overflow():
    h = new("dualpi2_histogram", max_ns=MS)
    fast, slow = C.histogram_index(10 * US), C.histogram_index(100 * US)
    h.bucket[fast] = h.bucket[slow] = 2**62
    assert [quantile_index(h, permille) for permille in (500, 501)] == [fast, slow]

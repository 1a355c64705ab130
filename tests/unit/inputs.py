# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Random inputs of more than one test."""

from clib import ONE
from hypothesis import strategies as st
from model import SECOND

probs = st.one_of(st.integers(0, ONE - 1), st.integers(0, 1000), st.integers(ONE - 1000, ONE - 1))
couplings = st.one_of(st.sampled_from([1, 2, 3, 255]), st.integers(1, 255))
delays_ns = st.one_of(
    st.integers(0, 50_000_000), st.integers(0, 1_000_000_000), st.integers(0, 4 * SECOND)
)
any_delay_ns = st.one_of(delays_ns, st.integers(0, 2**62))

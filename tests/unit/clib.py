# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The C functions (through bindings.py and aqm.c), and what they point to."""

from _clib import ffi
from _clib import lib as C

ONE = 2**32  # probability 1 in the C code's units, which can reach ONE - 1


def new(struct, value=None, **members):
    """A pointer to a struct: all 0 but for these members, or a copy of what a function returned."""
    return ffi.new(f"struct {struct} *", members if value is None else value)


def params(**members):
    """The defaults, but for these."""
    made = new("dualpi2_params", C.default_params())
    for name, value in members.items():
        setattr(made, name, value)
    return made

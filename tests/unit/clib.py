# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The C functions (through shim.c and aqm.c) as Python calls them."""

import ctypes
import os
from ctypes import (
    POINTER,
    byref,
    c_bool,
    c_char_p,
    c_int16,
    c_int32,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from fractions import Fraction

ONE = 2**32  # probability 1 in the C code's units, which can reach ONE - 1
BUCKETS = 192
VDQ_BINS_MAX, VDQ_RING_MAX, VDQ_VALUE_MAX = 1024, 4096, 2**20 - 1
L_STEP, L_RAMP = 0, 1  # enum dualpi2_l_aqm
RAW, NETWORK, PTM = 0, 1, 2  # enum dualpi2_framing


class Law(ctypes.Structure):
    """struct pi2_law. The gains are those of the struct, in 2^-32 per 64 ns."""

    _fields_ = [("target_ns", c_uint64), ("alpha", c_uint32), ("beta", c_uint32)]


class Coupling(ctypes.Structure):
    """struct coupling."""

    _fields_ = [
        ("p_cmax", c_uint64),
        ("p_lmax", c_uint64),
        ("prob_max", c_uint32),
        ("k", c_uint8),
    ]


class Codel(ctypes.Structure):
    """struct codel."""

    _fields_ = [("first_above", c_uint64), ("drop_next", c_uint64), ("count", c_uint32),
                ("last_count", c_uint32), ("inv_sqrt", c_uint32), ("packets", c_uint32),
                ("signals", c_uint32), ("seen_packets", c_uint32), ("seen_signals", c_uint32),
                ("share", c_uint32), ("dropping", c_uint8),
                ("has_dropped", c_uint8)]


class CodelLaw(ctypes.Structure):
    """struct codel_law."""

    _fields_ = [("target", c_uint32), ("interval", c_uint32), ("kind", c_uint8),
                ("steps", c_uint8)]


class CurvyRedLaw(ctypes.Structure):
    """struct curvy_red_law."""

    _fields_ = [("min_th_ns", c_uint64), ("range_ns", c_uint64), ("scale", c_uint64),
                ("smoothing", c_uint8), ("curviness", c_uint8)]


class Prague(ctypes.Structure):
    """struct prague. Windows are in 2^-20 packets, alpha in 2^-32."""

    _fields_ = [("window", c_uint64), ("lost", c_uint64), ("cut_us", c_uint64),
                ("round_us", c_uint64), ("alpha", c_uint32), ("rounds", c_uint32),
                ("delivered", c_uint32), ("delivered_ce", c_uint32), ("saw_ce", c_uint32),
                ("reserved", c_uint32)]


class Destination(ctypes.Structure):
    """struct prague_destination. `prefix` is in network byte order."""

    _fields_ = [("prefix", c_uint32 * 2), ("v6", c_uint32)]


class ClassicEcn(ctypes.Structure):
    """struct classic_ecn. Times are in 2^-20 us, the score in 2^-16."""

    _fields_ = [("srtt", c_uint64), ("mdev", c_uint64), ("score", c_int32),
                ("is_classic", c_uint32)]


LIB = ctypes.CDLL(os.environ["DUALPI2_SHIM"])
TYPES = {"__u8": c_uint8, "__u16": c_uint16, "__s16": c_int16, "__u32": c_uint32, "__u64": c_uint64}


def params_fields():
    """The rows of params.h and of PI2, and the rest of the bytes for those of an AQM."""
    rows = c_char_p.in_dll(LIB, "shim_params").value.decode().splitlines()
    fields = [(member, TYPES[kind]) for kind, member in map(str.split, rows)]
    size = c_uint32.in_dll(LIB, "shim_sizeof_params").value
    return [*fields, ("rest", c_uint8 * (size - sum(ctypes.sizeof(kind) for _, kind in fields)))]


class VdqLaw(ctypes.Structure):
    """struct vdq_law."""

    _fields_ = [("byte_time", c_uint64), ("carried", c_uint64), ("target", c_uint64),
                ("ring", c_uint32), ("bins", c_uint32)]


class VdqEntry(ctypes.Structure):
    """struct vdq_entry."""

    _fields_ = [("len", c_uint32), ("bin", c_uint32)]


class Vdq(ctypes.Structure):
    """struct vdq."""

    _fields_ = [("served_ns", c_uint64), ("overflows", c_uint64), ("served_part", c_uint32),
                ("first", c_uint32), ("end", c_uint32), ("backlog", c_uint32),
                ("ctv", c_uint32), ("share", c_uint32), ("is_empty", c_uint16),
                ("is_late", c_uint16), ("bin", c_uint32 * VDQ_BINS_MAX),
                ("came", c_uint32 * VDQ_BINS_MAX), ("ring", VdqEntry * VDQ_RING_MAX)]


class ValueFlow(ctypes.Structure):
    """struct value_flow."""

    _fields_ = [("last_ns", c_uint64), ("rate", c_uint64), ("spread", c_uint32),
                ("reserved", c_uint32)]


class ValuePoint(ctypes.Structure):
    """struct value_point."""

    _fields_ = [("rate", c_uint64), ("value", c_uint32), ("reserved", c_uint32)]


class ValuePolicy(ctypes.Structure):
    """struct value_policy."""

    _fields_ = [("points", c_uint32), ("share", c_uint32), ("point", ValuePoint * 16)]


class Params(ctypes.Structure):
    """struct dualpi2_params."""

    _fields_ = params_fields()

    @classmethod
    def default(cls, **values):
        """The defaults, but for `values`."""
        params = cls()
        LIB.shim_params_default(byref(params))
        for name, value in values.items():
            setattr(params, name, value)
        return params


class Shaper(ctypes.Structure):
    _fields_ = [("free_ns", c_uint64), ("remainder", c_uint64)]

    def exact_free(self, rate):
        return self.free_ns + Fraction(self.remainder, rate)


class Histogram(ctypes.Structure):
    _fields_ = [("sum_ns", c_uint64), ("max_ns", c_uint64), ("bucket", c_uint64 * BUCKETS)]


def load():
    signatures = {
        "shim_pi2_scale_gain": (c_uint32, c_uint32),
        "shim_pi2_next_prob": (c_uint32, POINTER(Law), c_uint32, c_uint32, c_uint64, c_uint64),
        "shim_coupling_make": (Coupling, c_uint8, c_uint32, c_bool),
        "shim_coupling_p_cl": (c_uint64, c_uint32, c_uint8),
        "shim_coupling_p_c": (c_uint32, c_uint32),
        "shim_coupling_classic_of": (c_uint32, c_uint64, c_uint8),
        "shim_coupling_c_overloaded": (c_bool, POINTER(Coupling), c_uint32),
        "shim_coupling_l_overloaded": (c_bool, POINTER(Coupling), c_uint32),
        "shim_coupling_saturated": (c_bool, POINTER(Coupling), c_uint32),
        "shim_coupling_recurs": (c_bool, c_uint64, c_uint64),
        "shim_codel_inv_sqrt": (c_uint32, c_uint32),
        "shim_codel_newton": (c_uint32, c_uint32, c_uint32),
        "shim_codel_sqrt": (c_uint32, c_uint32),
        "shim_codel_make": (CodelLaw, c_uint64, c_uint64, c_uint8, c_uint8),
        "shim_codel_signals": (c_bool, POINTER(Codel), POINTER(CodelLaw), c_uint64, c_uint64,
                               c_uint32),
        "shim_codel_weight": (c_uint32, c_uint64, c_uint64),
        "shim_codel_share": (c_uint32, POINTER(Codel), c_uint32),
        "shim_curvy_red_make": (CurvyRedLaw, c_uint64, c_uint64, c_uint8, c_uint8),
        "shim_curvy_red_smooth": (c_uint64, POINTER(CurvyRedLaw), c_uint64, c_uint64),
        "shim_curvy_red_prob": (c_uint32, POINTER(CurvyRedLaw), c_uint64),
        "shim_prague_virtual_rtt": (c_uint32, POINTER(Prague), c_uint32),
        "shim_prague_is_slow": (c_bool, POINTER(Prague), c_uint32),
        "shim_prague_gain": (c_uint64, POINTER(Prague), c_uint32),
        "shim_prague_window_min": (c_uint64, c_uint32, c_uint32),
        "shim_prague_set_window": (None, POINTER(Prague), c_uint64),
        "shim_prague_increase": (None, POINTER(Prague), c_uint32, c_uint64, c_uint32),
        "shim_prague_ce": (None, POINTER(Prague), c_uint32, c_uint64, c_uint32, c_uint64),
        "shim_prague_ce_reno": (None, POINTER(Prague), c_uint64, c_uint32, c_uint64),
        "shim_prague_loss": (None, POINTER(Prague)),
        "shim_prague_undo": (None, POINTER(Prague)),
        "shim_prague_idle": (None, POINTER(Prague), c_uint64, c_uint64, c_uint32),
        "shim_prague_network_v6": (None, c_uint32 * 4, POINTER(Destination)),
        "shim_prague_bound": (None, POINTER(Prague), c_uint32),
        "shim_prague_cwnd": (c_uint32, POINTER(Prague), c_uint32, c_uint32),
        "shim_prague_round": (None, POINTER(Prague), c_uint64, c_uint32, c_uint32, c_bool),
        "shim_prague_pacing": (c_uint64, POINTER(Prague), c_uint32, c_uint32, c_uint32, c_uint64,
                               c_bool),
        "shim_lg": (c_int32, c_uint64),
        "shim_classic_ecn_shift": (c_uint32, c_uint32),
        "shim_classic_ecn_sample": (None, POINTER(ClassicEcn), c_uint32, c_uint32),
        "shim_classic_ecn_round": (None, POINTER(ClassicEcn), c_uint32),
        "shim_vdq_make": (VdqLaw, c_uint64, c_uint32, c_uint64, c_uint32, c_uint32),
        "shim_vdq_tell": (None, POINTER(Vdq), POINTER(VdqLaw), c_uint64, c_uint32, c_uint32,
                          c_bool),
        "shim_vdq_update": (None, POINTER(Vdq), POINTER(VdqLaw), c_uint64),
        "shim_vdq_budget": (c_uint64, POINTER(VdqLaw), c_uint64),
        "shim_vdq_waiting": (c_uint64, POINTER(Vdq), POINTER(VdqLaw), c_uint64),
        "shim_vdq_clear": (None, POINTER(Vdq)),
        "shim_value_measure": (c_uint64, POINTER(ValueFlow), c_uint64, c_uint32, c_uint64),
        "shim_value_spread": (c_uint64, POINTER(ValueFlow)),
        "shim_value_of": (c_uint32, c_uint64),
        "shim_value_by": (c_uint32, POINTER(ValuePolicy), c_uint64),
        "shim_value_rate": (c_uint64, c_uint32),
        "shim_laqm_prob": (c_uint32, POINTER(Params), c_uint64, c_uint64),
        "shim_scheduler_reset": (c_int32, c_uint8, c_uint32),
        "shim_scheduler_serves_l": (c_bool, c_int32, c_bool, c_bool),
        "shim_scheduler_charge": (c_int32, c_int32, c_uint8, c_bool, c_uint32),
        "shim_shaper_wire_len": (c_uint32, POINTER(Params), c_uint32, c_uint32, c_uint32),
        "shim_shaper_wake": (None, POINTER(Shaper), c_uint64),
        "shim_shaper_ready": (c_bool, POINTER(Shaper), c_uint64, c_uint64),
        "shim_shaper_charge": (None, POINTER(Shaper), c_uint64, c_uint64, c_uint32),
        "shim_shaper_wait": (c_uint64, POINTER(Shaper), c_uint64, c_uint64, c_uint64),
        "shim_histogram_index": (c_uint32, c_uint64),
        "shim_histogram_edge": (c_uint64, c_uint32),
        "shim_histogram_record": (None, POINTER(Histogram), c_uint64, POINTER(c_uint32)),
        "shim_histogram_count": (c_uint64, POINTER(Histogram)),
        "shim_histogram_quantile": (c_uint64, POINTER(Histogram), c_uint32),
        "unit_aqm_new": (c_void_p, POINTER(Params), c_uint32),
        "unit_aqm_free": (None, c_void_p),
        "unit_aqm_set_prob": (None, c_void_p, c_uint32),
        "unit_aqm_update": (c_uint32, c_void_p, c_uint64),
        "unit_aqm_overload": (c_bool, c_void_p),
        "unit_aqm_set_queue": (None, c_void_p, c_bool, c_uint64, c_uint64, c_uint64),
        "unit_aqm_classify": (c_uint32, c_void_p, c_uint8),
        "unit_aqm_mark": (c_uint32, c_void_p, c_uint8, c_uint64),
        "unit_aqm_drop": (c_uint32, c_void_p, c_uint32, c_uint64),
        "shim_value_read": (c_bool, c_int32, c_char_p, POINTER(c_uint64)),
        "shim_value_format": (c_char_p, c_int32, c_uint64, c_char_p),
    }
    for name, layout in (("params", Params), ("law", Law), ("coupling", Coupling),
                         ("codel", Codel), ("codel_law", CodelLaw),
                         ("curvy_red_law", CurvyRedLaw), ("prague", Prague),
                         ("classic_ecn", ClassicEcn), ("vdq", Vdq), ("vdq_law", VdqLaw),
                         ("value_flow", ValueFlow), ("value_policy", ValuePolicy)):
        assert c_uint32.in_dll(LIB, f"shim_sizeof_{name}").value == ctypes.sizeof(layout)
    for name, (result, *arguments) in signatures.items():
        function = getattr(LIB, name)
        function.restype = result
        function.argtypes = arguments
    return LIB


C = load()

# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Parameters: what include/dualpi2.h makes of them, and the option table of user/aqm/params.c with
its ranges. (tests/fuzz/fuzz_options.c looks for what is read beyond its end.)
"""

import itertools

import pytest
from clib import ONE, C, ffi, new

AQM = C.aqm_default()
MS = 1_000_000  # ns
U32_MAX = 2**32 - 1


def all_rows():
    return itertools.takewhile(bool, (C.params_row(AQM, i) for i in itertools.count()))


ROWS = {ffi.string(row.name).decode(): row for row in all_rows() if row.name}
NEEDS_A_VALUE = [name for name, row in ROWS.items() if C.value_is_taken(row)]


def default():
    return new("dualpi2_params", C.params_default(AQM))


def own(params):
    """Those of PI2."""
    return ffi.cast("struct aqm_params *", params.aqm)


def text_of(function, *arguments, room=C.OPTION_TEXT_MAX):
    """What a function writes to its last argument."""
    written = ffi.new("char[]", room)
    return ffi.string(function(*arguments, written)).decode()


def shown(name, params):
    return text_of(C.params_text, ROWS[name], params)


def read(row, text):
    """What becomes of a value, and the value."""
    value = ffi.new("uint64_t *")
    return C.value_read(row, text, value), value[0]


class Given:
    """As if these options were the command line: "" for a flag, None for what is not given."""

    def __init__(self, options):
        assert set(options) <= set(ROWS)
        self.texts = {name: ffi.new("char[]", text.encode())
                      for name, text in options.items() if text is not None}
        self.table = ffi.new("struct option_given[]", C.PARAMS_MAX)
        rows = C.params_all()
        for place in itertools.takewhile(lambda i: C.option_exists(rows + i), itertools.count()):
            row, one = rows + place, self.table[place]
            one.text = self.texts.get(row.name and ffi.string(row.name).decode(), ffi.NULL)
            if one.text:
                status, value = read(row, one.text) if C.value_is_taken(row) else (
                    C.VALUE_OK, row.value)
                one.value, one.is_read = value, status == C.VALUE_OK


def apply(params, options):
    """Put them into `params`; why they are refused, or None."""
    why = ffi.new("char[]", C.PARAMS_WHY_MAX)
    if C.params_apply(Given(options).table, AQM, params, why):
        return None
    return ffi.string(why).decode()


def applied(**options):
    """What they make of the defaults. (`_` stands for -.)"""
    params = default()
    assert apply(params, {name.replace("_", "-"): text for name, text in options.items()}) is None
    return params


def test_defaults_are_native():
    """As sch_dualpi2's (the table of the native command line)."""
    expected = {"limit": 10000, "memlimit": 0, "coupling": 2, "step_ns": MS, "step_in_packets": 0,
                "classic_protection": 10, "min_qlen_step": 0, "overflow": 0, "drop_enqueue": 0,
                "ecn_mask": C.DUALPI2_ECN_L4S_ECT, "l_aqm": C.DUALPI2_L_STEP, "rate": 0}
    params = default()
    assert {member: getattr(params, member) for member in expected} == expected
    pi2 = own(params)
    assert (pi2.target_ns, pi2.tupdate_ns, pi2.alpha, pi2.beta) == (15 * MS, 16 * MS, 41, 819)


@pytest.mark.parametrize("limit, memlimit, frame, expected", [
    (10000, 0, 1514, 30_280_000), (1, 0, 1514, 3028),
    (C.DUALPI2_LIMIT_MAX, 0, 255, 255 << 24),  # 2^24 * frame bytes
    (C.DUALPI2_LIMIT_MAX, 0, 256, U32_MAX), (C.DUALPI2_LIMIT_MAX, 0, U32_MAX, U32_MAX),
    (10000, 1, 1514, 1), (10000, U32_MAX, 1514, U32_MAX)])
def test_memlimit_is_twice_the_full_packets_or_what_is_given(limit, memlimit, frame, expected):
    params = new("dualpi2_params", limit=limit, memlimit=memlimit)
    assert C.dualpi2_memlimit(params, frame) == expected


def test_drops_are_all_drop_counters():
    """Every counter called drop_* but the bytes is a drop, and nothing else is."""
    counters = new("dualpi2_counters")
    members = [name for name, _ in ffi.typeof("struct dualpi2_counters").fields]
    for bit, member in enumerate(members):
        setattr(counters, member, 1 << bit)
    drops = {member for bit, member in enumerate(members) if C.dualpi2_drops(counters) >> bit & 1}
    assert drops == {member for member in members if member.startswith("drop_")} - {"drop_bytes"}


# (in the range, out of it, malformed): the edges of every range, both sides.
RANGES = {
    "rate": ("0 8kbit 1tbit", "7999bit 1.1tbit", "40mb"),
    "target": ("0 4294967295us", "4294967296us", "-1ms"),
    "tupdate": ("1us", "0 0.999us", ""),
    "alpha": ("0.00391 32767.99609375", "0", ""),
    "beta": ("", "32768", "3.2hz"),
    "coupling-factor": ("1 255", "0 256 4294967298", ""),
    "step-thresh": ("0 4294967295p", "4294967296p", "1.5p"),
    "classic-protection": ("0 100%", "101", "10.5"),
    "limit": ("1 8388608", "0 8388609 99999999999999999999999", ""),
    "memlimit": ("1 4294967295", "0 4g", ""),
    "min-qlen-step": ("0 4294967295", "4294967296", "5p"),
    "max-rtt": ("1us", "0.999us", ""),
    "typical-rtt": ("4294967295us", "4295s", ""),
    "overhead": ("-64 256", "-65 257 65536", "1k"),
    "mpu": ("0 256", "257 65536", "-1"),
    "l-aqm": ("ramp step", "", "ramps"),
    "p-cmax": ("0.00000003% 100%", "0 0.00000001 100.000001%", "1/4"),
    "l4s-dscp": ("63", "", "64"),
    "classic-dscp": ("le,ef", "", "best"),
    "per-host": ("off dst src auto", "", "both"),
    "hosts": ("8 65528", "7 65529", "8k"),
    "host-prefix": ("1 128", "0 129", "/64"),
}


@pytest.mark.parametrize("name", RANGES)
def test_ranges(name):
    for texts, status in zip(RANGES[name], (C.VALUE_OK, C.VALUE_OUT_OF_RANGE, C.VALUE_MALFORMED),
                             strict=True):
        for text in texts.split():
            assert read(ROWS[name], text.encode())[0] == status, text


@pytest.mark.parametrize("name", ROWS)
def test_every_option_is_explained(name):
    """And every value: what it has to be, with a good example."""
    row = ROWS[name]
    assert row.help
    if name in NEEDS_A_VALUE:
        assert C.value_argument(row)
        assert read(row, b"")[0] == C.VALUE_MALFORMED
        assert text_of(C.value_range, row)
        example, *_ = text_of(C.value_example, row).split()  # "1ms or 5p": a word of it
        assert read(row, example.encode())[0] == C.VALUE_OK


@pytest.mark.parametrize("name, words, example", [
    ("rate", "0, or 8kbit to 1tbit", "40mbit"), ("overhead", "-64 to 256", "44"),
    ("mpu", "0 to 256", "64"), ("target", "0us to 4294s", "15ms"),
    ("tupdate", "1us to 4294s", "16ms"), ("alpha", "0.003906 to 32767.996094", "0.160156"),
    ("max-rtt", "1us to 4294s", "15ms"), ("coupling-factor", "1 to 255", "2"),
    ("step-thresh", "0us to 4294s or 0p to 4294967295p", "1ms or 5p"),
    ("min-qlen-step", "0 to 4294967295", "5"), ("classic-protection", "0 to 100", "10"),
    ("limit", "1 to 8388608", "10000"), ("memlimit", "1 to 4294967295", "30m"),
    ("per-host", "off or dst or src or auto", "off"), ("hosts", "8 to 65528", "4096"),
    ("l-aqm", "step or ramp", "step"), ("p-cmax", "above 0 to 100, or auto", "25%")])
def test_ranges_in_words(name, words, example):
    """What a range says is what is checked."""
    assert text_of(C.value_range, ROWS[name]) == words
    assert text_of(C.value_example, ROWS[name]) == example


@pytest.mark.parametrize("name, text, as_shown, member, value", [
    ("rate", "40mbit", "40mbit", "rate", 5_000_000),
    ("mpu", "64", "64", "mpu", 64),
    ("target", "5ms", "5ms", "target_ns", 5 * MS),
    ("tupdate", "6ms", "6ms", "tupdate_ns", 6 * MS),
    ("alpha", "0.15625", "0.156250", "alpha", 40),
    ("beta", "3.125", "3.125000", "beta", 800),
    ("coupling-factor", "4", "4", "coupling", 4),
    ("step-thresh", "700us", "700us", "step_ns", 700_000),
    ("min-qlen-step", "7", "7", "min_qlen_step", 7),
    ("classic-protection", "25%", "25%", "classic_protection", 25),
    ("limit", "1234", "1234p", "limit", 1234),
    ("memlimit", "2m", "2097152b", "memlimit", 2 << 20),
    ("overflow", "", "", "overflow", 1),
    ("drop-enqueue", "", "", "drop_enqueue", 1),
    ("any-ect", "", "", "ecn_mask", C.DUALPI2_ECN_ANY_ECT),
    ("no-l4s", "", "", "ecn_mask", C.DUALPI2_ECN_NO_L4S),
    ("l4s-dscp", "ef,nqb,50", "nqb,ef,50", "l4s_dscp", 1 << 45 | 1 << 46 | 1 << 50),
    ("classic-dscp", "le", "le", "classic_dscp", 2),
    ("l-aqm", "ramp", "ramp", "l_aqm", C.DUALPI2_L_RAMP),
    ("p-cmax", "12.5%", "12.5%", "p_cmax", ONE // 8),
    ("p-cmax", "6%", "6%", "p_cmax", 257_698_037),
    ("per-host", "src", "src", "per_host", C.DUALPI2_HOSTS_SRC),
    ("hosts", "65528", "65528", "hosts", 65528),
    ("host-prefix", "56", "56", "host_prefix", 56)])
def test_each_option_sets_its_member(name, text, as_shown, member, value):
    """And only that one; shown, it reads the same, and it alone differs from the defaults."""
    params, expected = default(), default()
    assert apply(params, {name: text}) is None
    setattr(expected if hasattr(expected, member) else own(expected), member, value)
    assert bytes(ffi.buffer(params)) == bytes(ffi.buffer(expected))
    assert shown(name, params) == f"{name} {as_shown}".rstrip()
    assert [row for row in all_rows() if C.params_differ(row, params)] == [ROWS[name]]


@pytest.mark.parametrize("there, back", [
    ("overflow", "drop-on-overload"), ("drop-enqueue", "drop-dequeue"), ("any-ect", "l4s-ect"),
    ("no-l4s", "l4s-ect"), ("pppoe-ptm", "raw")])
def test_flags_take_back(there, back):
    """The other spelling of each pair takes back what the first one set."""
    def flag():
        return ffi.string(C.params_flag(ROWS[there], params)).decode()

    is_switch = ROWS[there].kind == C.KIND_SWITCH
    assert ROWS[there].slot == ROWS[back].slot
    params = applied(**{there: ""})
    assert not is_switch or flag() == there
    assert apply(params, {back: ""}) is None
    assert bytes(ffi.buffer(params)) == bytes(ffi.buffer(default()))
    assert not is_switch or flag() == back


def test_all_dscps_fit_the_text():
    everything = text_of(C.value_show, ROWS["l4s-dscp"], 2**64 - 1)
    assert read(ROWS["l4s-dscp"], everything.encode()) == (C.VALUE_OK, 2**64 - 1)
    assert shown("l4s-dscp", default()) == "l4s-dscp none"


def test_step_in_packets_and_back():
    params = applied(step_thresh="5pkt")
    assert (params.step_in_packets, params.step_packets) == (1, 5)
    assert shown("step-thresh", params) == "step-thresh 5p"
    assert apply(params, {"step-thresh": "2ms"}) is None
    assert (params.step_in_packets, params.step_ns) == (0, 2 * MS)


def test_share_of_nothing_is_shown_as_such():
    """Unlike p-cmax, of which 0 stands for a rule."""
    share = new("option_spec", kind=C.KIND_SHARE, max=ONE)
    assert text_of(C.value_format, share, 0) == "0%"
    assert text_of(C.value_format, share, ONE - 1) == "100%"


def test_p_cmax_ends_at_one_and_can_be_auto():
    params = applied(p_cmax="100")
    assert (params.p_cmax, shown("p-cmax", params)) == (U32_MAX, "p-cmax 100%")
    assert apply(params, {"p-cmax": "auto"}) is None
    assert (params.p_cmax, shown("p-cmax", params)) == (0, "p-cmax auto")
    assert shown("p-cmax", default()) == "p-cmax auto"


def test_limit_alone_renews_memlimit():
    """As dualpi2_change() of native has it."""
    params = default()
    params.memlimit = 12345
    assert apply(params, {"limit": "50"}) is None
    assert (params.limit, params.memlimit) == (50, 0)
    assert apply(params, {"limit": "50", "memlimit": "1000"}) is None
    assert params.memlimit == 1000


@pytest.mark.parametrize("given, hosts", [("8", 8), ("9", 16), ("1000", 1000), ("65521", 65528)])
def test_hosts_come_in_full_sets(given, hosts):
    assert applied(hosts=given).hosts == hosts


@pytest.mark.parametrize("options, is_doubted", [
    ({}, False), ({"hosts": "8"}, True), ({"host-prefix": "56"}, True),
    ({"hosts": "4096", "host-prefix": "64"}, False),
    ({"per-host": "dst", "hosts": "8", "host-prefix": "56"}, False)])
def test_what_is_about_hosts_does_nothing_without_them(options, is_doubted):
    doubt = C.params_doubt(AQM, applied(**{name.replace("-", "_"): text
                                           for name, text in options.items()}),
                           ffi.new("char[]", C.PARAMS_WHY_MAX))
    assert bool(doubt) == is_doubted
    assert not doubt or b"do nothing without per-host" in ffi.string(doubt)


# ---- the link ------------------------------------------------------------------------


@pytest.mark.parametrize("options, framing, overhead, mpu", [
    # The figures of tc-cake(8)
    ({"raw": ""}, C.DUALPI2_FRAMING_RAW, 0, 0),
    ({"ethernet": ""}, C.DUALPI2_FRAMING_NETWORK, 38, 84),
    ({"docsis": ""}, C.DUALPI2_FRAMING_NETWORK, 18, 64),
    ({"pppoe-ptm": ""}, C.DUALPI2_FRAMING_PTM, 30, 0),
    # which both adjust
    ({"mpu": "70", "pppoe-ptm": "", "overhead": "34"}, C.DUALPI2_FRAMING_PTM, 34, 70),
    # An overhead is counted from the IP header on
    ({"overhead": "-4"}, C.DUALPI2_FRAMING_NETWORK, -4, 0),
    ({"overhead": "0"}, C.DUALPI2_FRAMING_NETWORK, 0, 0)])
def test_framing(options, framing, overhead, mpu):
    params = applied(**options)
    assert (params.framing, params.overhead, params.mpu) == (framing, overhead, mpu)
    if "overhead" in options:
        ptm = " ptm" if framing == C.DUALPI2_FRAMING_PTM else ""
        assert shown("overhead", params) == f"overhead {overhead}{ptm}"
        assert C.params_differ(ROWS["overhead"], params)


def test_overhead_keeps_a_framing_that_counts_from_the_ip_header():
    params = applied(pppoe_ptm="")
    assert apply(params, {"overhead": "22"}) is None
    assert params.framing == C.DUALPI2_FRAMING_PTM


# ---- RTTs ----------------------------------------------------------------------------


@pytest.mark.parametrize("longest, typical, target_us, tupdate_us, alpha, beta", [
    ("100ms", "15ms", 15000, 15000, 38, 768),
    ("100ms", None, 16666, 16666, 42, 768),
    (None, "15ms", 15000, 15000, 47, 853),
    ("10ms", "10ms", 10000, 3333, 853, 7680),  # tupdate is max / 3
    ("300ms", "100001us", 100_001, 100_000, 28, 256),
    ("50ms", None, 8333, 8333, 85, 1536),
    ("1.0009ms", "1.0009ms", 1000, 333, 8524, 76800),  # whole us
    ("10us", None, 1, 1, 256_000, 7_680_000),
    # 0.3f is a little more than 0.3, which would give 338325.
    ("227us", None, 37, 37, 18381, 338_326),
    ("8533ms", "8533ms", 8_533_000, 2_844_333, 1, 9),
    ("4266666us", None, 711_111, 711_111, 1, 18)])
def test_rtts_choose_as_tc_does(longest, typical, target_us, tupdate_us, alpha, beta):
    """What iproute2's q_dualpi2.c computes, in its mix of float and double."""
    params = applied(max_rtt=longest, typical_rtt=typical)
    pi2 = own(params)
    assert (pi2.target_ns, pi2.tupdate_ns) == (1000 * target_us, 1000 * tupdate_us)
    assert (pi2.alpha, pi2.beta) == (alpha, beta)


def test_rtts_agree_with_what_they_set():
    agreed = applied(max_rtt="100ms", typical_rtt="15ms", target="15ms")
    assert own(agreed).target_ns == 15 * MS


@pytest.mark.parametrize("options, why", [
    ({"raw": "", "overhead": "0"}, "--overhead 0: excludes --raw: give one of them"),
    # RTTs override nothing in silence,
    ({"max-rtt": "100ms", "target": "1s"},
     "--target 1s: --max-rtt sets it, too: give one of them"),
    ({"alpha": "1", "typical-rtt": "15ms"},
     "--alpha 1: --typical-rtt sets it, too: give one of them"),
    # and may make no sense.
    ({"max-rtt": "10ms", "typical-rtt": "20ms"}, "--typical-rtt 20ms: above --max-rtt 10ms"),
    ({"max-rtt": "4266667us"},
     "--max-rtt 4266667us: too high: alpha would be below 1/256 Hz, its lowest"),
    ({"max-rtt": "8533333us", "typical-rtt": "8533333us"},
     "--max-rtt 8533333us: too high: alpha would be below 1/256 Hz, its lowest"),
    ({"typical-rtt": "4000s"},
     "--typical-rtt 4000s: too high: alpha would be below 1/256 Hz, its lowest"),
    ({"max-rtt": "9us"},
     "--max-rtt 9us: too low: beta would be above 32767.996094 Hz, its highest"),
    # A DSCP is in one list.
    ({"l4s-dscp": "ef,nqb,40", "classic-dscp": "le,nqb,ef"},
     "--l4s-dscp, --classic-dscp: both would have nqb,ef: take it out of one")])
def test_what_contradicts_itself_is_refused(options, why):
    assert apply(default(), options) == why


def test_a_dscp_is_in_one_list_of_a_live_qdisc():
    params = applied(classic_dscp="le,nqb")
    assert apply(params, {"l4s-dscp": "ef,nqb,40"}) == (
        "--l4s-dscp, --classic-dscp: both would have nqb: take it out of one")
    params = applied(classic_dscp="le,nqb")
    assert apply(params, {"l4s-dscp": "ef,nqb,40", "classic-dscp": "none"}) is None
    assert params.classic_dscp == 0


def test_described_as_given():
    options = {"max-rtt": "100ms", "any-ect": ""}
    params = applied(**options)

    def described(options, with_head, room=256):
        text, table = ffi.new("char[]", room + 1), Given(options).table
        text[room] = b"|"
        C.params_describe(table, with_head, AQM, params, text, room)
        assert text[room] == b"|"
        return ffi.string(text).decode()

    whole = (", max-rtt 100ms, typical-rtt 16.666ms, target 16.666ms, tupdate 16.666ms, "
             "alpha 0.164062, beta 3.000000, any-ect")
    assert described(options, with_head=False) == whole
    assert described(options, with_head=False, room=12) == whole[:11]
    assert described({}, with_head=True) == ", rate unlimited, target 16.666ms"

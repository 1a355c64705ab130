# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What was measured, as tables in Markdown: each function gives the lines of one part."""

import textwrap


def table(columns, rows):
    yield f"| {' | '.join(columns)} |"
    yield "|---|" + "---:|" * (len(columns) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def prose(text):
    """As wide as the pages that show it."""
    yield from textwrap.wrap(text, 80, break_on_hyphens=False)


def number(value):
    return "" if value is None else f"{value:.0f}"


def version(release):
    """7.2.12 of 7.2.12+deb13-cloud-amd64."""
    return release.split("+")[0]


def without_native(missing):
    """What could not be measured where sch_dualpi2, and the gate with it, cannot be built."""
    if missing:
        yield ""
        yield from prose("Not measured, because sch_dualpi2 cannot be built here: "
                         f"{', '.join(missing)}.")


# ---- packets ------------------------------------------------------------------------


def pair(by_packet, figure):
    """L / C, or a dash if it was not measured."""
    figures = [row.get(figure) for row in by_packet.values()]
    return "–" if None in figures else " / ".join(map(number, figures))


FIGURES = ("empty", "standing", "enqueue", "dequeue")


def packets(result):
    rows, missing = result["rows"], result["missing"]
    found = {}
    for row in rows:
        found.setdefault((row["shaped"], row["qdisc"], row.get("instances")), {})[
            row["packet"]] = row
    columns = ["queue empty", "queue standing", "of it enqueue", "of it dequeue"]
    yield "## Instructions per packet"
    yield ""
    yield from prose("Above `noqueue`, for L / C packets of 64 bytes. Enqueue and dequeue are "
                     "above `pfifo`'s.")
    for shaped in (False, True):
        yield ""
        title = "shaped at 10gbit" if shaped else "unshaped"
        yield from table([title, *columns], [
            [name(qdisc, instances), *(pair(by_packet, figure) for figure in FIGURES)]
            for (is_shaped, qdisc, instances), by_packet in found.items() if is_shaped == shaped])
    yield ""
    yield (f"`noqueue` itself, with pktgen and dummy: {number(result['noqueue']['L'])} / "
           f"{number(result['noqueue']['C'])}")
    yield from without_native([*missing, "a standing queue"] if missing else [])


def name(qdisc, instances):
    return f"{qdisc}, {instances} live" if instances else qdisc


# ---- several queues -----------------------------------------------------------------


def queues(result):
    yield f"## One rate over {result['queues']} queues"
    yield ""
    yield from prose("Instructions per packet above `noqueue` with an empty queue, for L / C "
                     "packets of 64 bytes that come to each transmit queue in turn; shaped at "
                     "10gbit.")
    yield ""
    yield from table(["qdisc", "L / C"], [
        [row["qdisc"], f"{number(row['L'])} / {number(row['C'])}"] for row in result["rows"]])


# ---- hosts --------------------------------------------------------------------------


def hosts(result):
    cost, counts = {}, list(dict.fromkeys(row["hosts"] for row in result["rows"]))
    for row in result["rows"]:
        cost.setdefault(row["qdisc"], {})[row["hosts"]] = row
    yield "## Queues for each host"
    yield ""
    yield from prose("Instructions per packet above `noqueue` with an empty queue, for L / C "
                     "packets of 64 bytes to so many hosts, one after the other; shaped at 10gbit.")
    yield ""
    yield from table(["hosts", *map(str, counts)], [
        [qdisc, *(f"{number(by_count[count]['L'])} / {number(by_count[count]['C'])}"
                  for count in counts)] for qdisc, by_count in cost.items()])


# ---- GSO ----------------------------------------------------------------------------

WAYS = (("GSO, device takes it", "gso", True), ("GSO, device does not", "gso", False),
        ("no GSO", "single", True))


def gso(result):
    rows = result["rows"]
    protocols = list(dict.fromkeys(row["sender"] for row in rows))
    qdiscs = list(dict.fromkeys(row["qdisc"] for row in rows))
    cost = {(row["sender"], row["qdisc"], way, row["device takes GSO"]): row[way]
            for row in rows for way in ("gso", "single")}

    def cell(protocol, qdisc, way, taken):
        value = cost[protocol, qdisc, way, taken]
        above = value - cost[protocol, "noqueue", way, taken]
        return number(value) + (f" ({above:+.0f})" if qdisc != "noqueue" else "")

    yield "## Instructions per segment"
    yield ""
    yield "From the sender's call to the device; 40 segments of 1448 bytes per call."
    yield "In brackets: above `noqueue` in the same column."
    yield ""
    yield from table(
        ["", *(f"{protocol}: {title}" for protocol in protocols for title, _, _ in WAYS)],
        [[qdisc, *(cell(protocol, qdisc, way, taken)
                   for protocol in protocols for _, way, taken in WAYS)] for qdisc in qdiscs])
    yield from without_native(result["missing"])


# ---- congestion controls -----------------------------------------------------------------


def by_program(programs):
    yield from table(["program", "runs per packet", "instructions per run"], [
        [program, f"{figures['runs a packet']:.2f}", number(figures["instructions a run"])]
        for program, figures in programs.items()])


def congestion(result):
    rows = result["rows"]
    baseline = rows[0]
    yield "## Instructions per TCP packet"
    yield ""
    yield from prose("From the sender's call to the receiver's, without GSO, with Accurate ECN and "
                     f"{baseline['ACKs a packet']:.1f} ACKs per packet.")
    yield ""
    yield from table(["", "per packet", f"more than {baseline['congestion']}"], [
        [row["congestion"], number(row["a packet"]),
         f"{row['a packet'] - baseline['a packet']:+.0f}"] for row in rows])
    yield ""
    yield from by_program(result["programs"])
    yield ""
    yield "Reading the clock is included in the lower table only, some 50 for each run."


# ---- beyond instructions per packet ---------------------------------------------------


def idle(result):
    yield "## Wake-ups"
    yield ""
    yield from by_program(result["programs"])
    yield ""
    yield from prose("Shaped, 64-byte packets of both classes, queue empty; reading the clock is "
                     "included. mark_values is dualpi2-mark-values, with IPv6 packets of one flow.")
    yield ""
    yield from table([f"{result['instances']} instances live", f"{result['packets']} packets",
                      f"{result['idle seconds']} s without packets"], [
        [what, str(count), str(result["idle"][what])] for what, count in result["busy"].items()])


def memory(result):
    yield "## Memory"
    if not result:
        yield from without_native(["memory"])
        return
    yield ""
    yield from table(["backlog, packets", "bytes per packet above pfifo"], [
        [f"{step['from']} to {step['to']}", number(step["bytes a packet"])]
        for step in result["steps"]])
    cache = result["block cache"]
    yield ""
    yield from prose("An instance that never queued takes "
                     f"{number(cache['bytes an instance'])} bytes of `{cache['name']}`, the slab "
                     "cache of the blocks.")


def load(results):
    """`results`: {kernel: what was measured there}."""
    yield "## Loading"
    yield ""
    programs = next(iter(results.values()))["verified"]
    yield from table(["verified instructions / states", *map(version, results)], [
        [program, *(f"{result['verified'][program]['instructions']} / "
                    f"{result['verified'][program]['states']}" for result in results.values())]
        for program in programs])
    yield ""
    yield "CPU time in the guest, ms (a million instructions each):"
    yield ""
    commands = next(iter(results.values()))["cpu_ms"]
    yield from table(["", *map(version, results)], [
        [command, *(f"{result['cpu_ms'][command]:.1f}" if command in result["cpu_ms"] else "–"
                    for result in results.values())]
        for command in commands])

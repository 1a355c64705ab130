# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The table of what a segment costs (gso.py)."""

COLUMNS = (("GSO, device takes it", "gso", True), ("GSO, device does not", "gso", False),
           ("no GSO packets made", "single", True))


def lines(rows):
    protocols = list(dict.fromkeys(row["sender"] for row in rows))
    qdiscs = list(dict.fromkeys(row["qdisc"] for row in rows))
    cost = {(row["sender"], row["qdisc"], way, row["device takes GSO"]): row[way]
            for row in rows for way in ("gso", "single")}

    def cell(protocol, qdisc, way, taken):
        value = cost[protocol, qdisc, way, taken]
        above = value - cost[protocol, "noqueue", way, taken]
        return f"{value:.0f}" + (f" ({above:+.0f})" if qdisc != "noqueue" else "")

    yield "| | " + " | ".join(f"{protocol}: {title}" for protocol in protocols
                              for title, _, _ in COLUMNS) + " |"
    yield "|---|" + "---|" * len(protocols) * len(COLUMNS)
    for qdisc in qdiscs:
        yield f"| {qdisc} | " + " | ".join(
            cell(protocol, qdisc, way, taken)
            for protocol in protocols for _, way, taken in COLUMNS) + " |"

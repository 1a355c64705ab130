# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The project's own budget, a file for each machine (bench/budget-amd64.json): what was
recorded, for each series of kernels, each part of the measurements and each case. More than
that by TOLERANCE is a failure.

Two runs of the same tree give the same figures to the digit. A file more or less in the
guest moves them by 0.2 % with an empty queue, by 0.5 % with a standing one; and what was
measured before in the same guest, by up to 1 %."""

import json
import re
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
TOLERANCE = 0.02
OURS = "bpf_dualpi2"


def series(release):
    """The part of a kernel's release that a budget is for: 7.2 of 7.2.12+deb13-cloud-amd64."""
    return ".".join(release.split(".")[:2])


def file_for(release):
    """Of the machine that a kernel is built for: arm64 of 7.3.4+deb13-cloud-arm64."""
    [machine] = re.findall("amd64|arm64", release)
    return BENCH / f"budget-{machine}.json"


def everything(file):
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def recorded(release, part):
    """{case: figure} for a kernel; empty if nothing was recorded for its series."""
    return everything(file_for(release)).get(series(release), {}).get(part, {})


def record(release, part, cases):
    """These cases take the place of what was recorded of this part."""
    file = file_for(release)
    new = everything(file)
    new.setdefault(series(release), {})[part] = {
        case: round(figure) for case, figure in cases.items()}
    file.write_text(json.dumps(new, indent=1, sort_keys=True, ensure_ascii=False) + "\n",
                    encoding="utf-8")


def excess(kernel, part, case, measured, budget):
    """One line if a case is above its budget or has none."""
    what = f"{part} on {series(kernel)}: {case}: {measured:.0f}"
    if budget is None:
        return f"{what}, and no budget is recorded"
    if measured <= budget * (1 + TOLERANCE):
        return None
    rise = f" ({measured / budget - 1:+.1%})" if budget else ""
    return f"{what}{rise}, the budget is {budget}, and {TOLERANCE:.0%} more"


# ---- which of the figures have a budget: ours, in the order of measurement ----------


def packet_case(contender, shaped, packet, queue, instances=1):
    return (f"{contender}, {'shaped' if shaped else 'unshaped'}, {packet} packet, queue {queue}, "
            f"{instances} live")


def packet_cases(result):
    """Instructions a packet."""
    return {packet_case(row["qdisc"], row["shaped"], row["packet"], queue, row["instances"]):
            row[queue] for row in result["rows"] if "instances" in row
            for queue in ("empty", "standing") if queue in row}


def queues_cases(result):
    """Instructions a packet."""
    return {f"{row['qdisc']}, {packet} packet": row[packet] for row in result["rows"]
            if row["qdisc"].startswith(OURS) for packet in ("L", "C")}


def hosts_cases(result):
    """Instructions a packet."""
    return {f"{row['qdisc']}, {row['hosts']} hosts, {packet} packet": row[packet]
            for row in result["rows"] if "--per-host" in row["qdisc"] for packet in ("L", "C")}


def gso_cases(result):
    """Instructions a segment."""
    return {f"{row['qdisc']}, {row['sender']} GSO, device takes it": row["gso"]
            for row in result["rows"]
            if row["qdisc"].startswith(OURS) and row["device takes GSO"]}


def congestion_cases(result):
    """Instructions a packet, above Reno's."""
    baseline, *_, ours = (row["a packet"] for row in result["rows"])
    return {"TCP Prague, above Reno": ours - baseline}


def memory_cases(result):
    """Bytes."""
    if not result:
        return {}
    step = result["steps"][-1]
    return {f"a packet, {step['from']} to {step['to']}": step["bytes a packet"],
            "an instance that never queued": result["block cache"]["bytes an instance"]}


def idle_cases(result):
    """Wake-ups."""
    return {f"{what}, {result['idle seconds']} s without packets": count
            for what, count in result["idle"].items()}


def load_cases(result):
    """Verified instructions and states, as veristat counts them; µs of CPU time, without
    the small ones, which are not as steady."""
    cases = {f"{program}, {what}": figures[key]
             for program, figures in result["verified"].items()
             for key, what in (("instructions", "verified instructions"), ("states", "states"))}
    return cases | {f"{command}, µs": milliseconds * 1000
                    for command, milliseconds in result["cpu_ms"].items()
                    if command.startswith(("dualpi2-load, ", "tcp-prague on"))}


CASES = {"packets": packet_cases, "queues": queues_cases, "hosts": hosts_cases,
         "gso": gso_cases, "congestion": congestion_cases, "memory": memory_cases,
         "idle": idle_cases, "load": load_cases}

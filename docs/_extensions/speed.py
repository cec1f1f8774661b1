"""Writes the table and the plot of the page on speed from what was measured, ``docs/data/bench.json``.

``docs/best_of.py`` says how that is made; nothing is typed by hand.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[1]

OPERATIONS = {
    "ecb enc": "ECB",
    "ctr enc": "CTR",
    "gcm enc": "GCM",
    "ocb enc": "OCB",
    "xts enc": "XTS",
    "cbc dec": "CBC decryption",
    "cbc enc": "CBC encryption",
    "cbc many enc": "CBC encryption, 256 messages",
    "eax enc": "EAX",
    "ccm enc": "CCM",
    "siv enc": "SIV",
}
#: Rows that the plot has: what most people run.
PLOTTED = ("ctr enc", "gcm enc", "xts enc", "cbc dec", "cbc enc")
COMPILED = ("permute", "shuffle", "gather")


def records(document: dict[str, Any], key_bits: int = 256) -> dict[str, dict[str, Any]]:
    """operation -> implementation -> record, of the section on modes; of several sizes the fastest."""
    found: dict[str, dict[str, Any]] = {name: {} for name in OPERATIONS}
    for each in sorted(document["results"], key=lambda each: each["mebibytes_per_sec"] or 0):
        if each["section"] == "modes" and each["key_bits"] == key_bits and each["operation"] in found:
            found[each["operation"]][each["implementation"]] = each
    order = list(dict.fromkeys(each["implementation"] for each in document["results"]))
    return {name: {each: row[each] for each in order if each in row} for name, row in found.items() if row}


def _columns(document: dict[str, Any], rows: dict[str, dict[str, Any]]) -> list[str]:
    """Implementations, ours first, each in the order in which it was measured."""
    seen: dict[str, bool] = {}
    for row in rows.values():
        for name, record in row.items():
            if name != "reference" and "," not in name:
                seen.setdefault(name, record["ours"])
    return sorted(seen, key=lambda name: not seen[name])


def machine(document: dict[str, Any]) -> str:
    about = document["machine"]
    clock = max(each["auto_mhz"] or 0 for each in document["results"])
    return f"{about['processor']} at {clock:.0f} MHz, Python {about['python']}, Numba {about['numba']}"


def table(document: dict[str, Any], key_bits: int = 256) -> str:
    """A Markdown table: MiB/s, and cycles per byte where the clock could be told."""
    rows = records(document, key_bits)
    columns = _columns(document, rows)
    head = [name.replace(" ", "<br>", 1) for name in columns]
    lines = ["| " + " | ".join(["", *head]) + " |", "|---|" + "---:|" * len(columns)]
    for name, row in rows.items():
        lines.append(
            "| " + " | ".join([OPERATIONS[name], *(_cell(row.get(column)) for column in columns)]) + " |"
        )
    return "\n".join(lines)


def _cell(record: dict[str, Any] | None) -> str:
    if record is None:
        return ""
    cycles, speed = record["cycles_per_byte"], record["mebibytes_per_sec"]
    digits = 1 if speed < 10 else 0
    below = "" if cycles is None else f"<br><small>{cycles:.{0 if cycles >= 100 else 2}f}</small>"
    return f"{speed:.{digits}f}{below}"


def plot(document: dict[str, Any], path: Path, key_bits: int = 256) -> None:
    """Bars: our compiled backends and the peers, for the modes that most people run."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = {name: row for name, row in records(document, key_bits).items() if name in PLOTTED}
    columns = [
        name
        for name in _columns(document, rows)
        if name in COMPILED or not any(row.get(name, {}).get("ours") for row in rows.values())
    ]
    matplotlib.rcParams["svg.hashsalt"] = "twofishkit"
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    ours = plt.get_cmap("Blues_r")
    theirs = plt.get_cmap("Greys")
    width = 0.8 / len(columns)
    peers = [name for name in columns if name not in COMPILED]
    for i, name in enumerate(columns):
        at = [x + (i - (len(columns) - 1) / 2) * width for x in range(len(rows))]
        heights = [row.get(name, {}).get("mebibytes_per_sec", 0) for row in rows.values()]
        colour = ours(0.15 + 0.3 * i) if name in COMPILED else theirs(0.35 + 0.15 * peers.index(name))
        ax.bar(at, heights, width, label=name, color=colour)
    ax.set_xticks(range(len(rows)), [OPERATIONS[name] for name in rows])
    ax.set_ylabel("MiB/s, one thread")
    sizes = {record["size_bytes"] for row in rows.values() for record in row.values() if record["ours"]}
    size = f"{max(sizes) // 1024} KiB in place"
    title = f"Twofish, {key_bits}-bit keys, {size}: {document['machine']['processor']}"
    ax.set_title(title, fontsize="medium")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write(app: Any) -> None:
    document = json.loads((HERE / "data" / "bench.json").read_text("utf-8"))
    target = HERE / "_generated"
    target.mkdir(exist_ok=True)
    (target / "machine.md").write_text(machine(document) + "\n", "utf-8")
    (target / "speed.md").write_text(table(document) + "\n", "utf-8")
    plot(document, target / "speed.svg")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

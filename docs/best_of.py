"""Joins runs of the benchmark: of each row, the fastest.

    python -m twofishkit bench --json --keys 256 --sizes 1M > run1.json     and so on, for run2 and run3
    python docs/best_of.py run1.json run2.json run3.json > docs/data/bench.json

CONTRIBUTING.md says what to do next.

On a machine that is shared, interference only ever makes a row slower; the best of several runs is nearest to
what the code does, and treats everybody alike.
"""

import json
import sys
from pathlib import Path
from typing import Any

#: What makes two rows the same row.
_ROW = ("section", "operation", "key_bits", "size_bytes", "implementation")


def best_of(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """One document like the first, with the fastest of each row, and without the ratios within a run."""
    about = [(each["twofishkit"], each["machine"], each["peers"]) for each in documents]
    if any(each != about[0] for each in about):
        raise SystemExit("the runs are of different machines or versions")
    fastest: dict[tuple[Any, ...], dict[str, Any]] = {}
    for document in documents:
        for record in document["results"]:
            row = tuple(record[name] for name in _ROW)
            record = {name: value for name, value in record.items() if name != "ratio"}
            if row not in fastest or _speed(record) > _speed(fastest[row]):
                fastest[row] = record
    return {**documents[0], "runs": len(documents), "results": list(fastest.values())}


def _speed(record: dict[str, Any]) -> float:
    return 1 / float(record["nanosecs_per_call"])


if __name__ == "__main__":
    runs = [json.loads(Path(path).read_text("utf-8")) for path in sys.argv[1:]]
    print(json.dumps(best_of(runs), indent=1))

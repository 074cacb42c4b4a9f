"""A training run's figures as curves, read from its ``metrics.jsonl``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from dominozoo_training.evaluation.plots import Curve

METRICS: Final = "metrics.jsonl"
POINTS: Final = 300  # of a curve; more are not seen
WIN_RATE: Final = "_win_rate"


def panels_of(run: Path) -> dict[str, list[Curve]]:
    """What a run's log shows, by title: win rates on the way, and how sure the policy is.

    Args:
        run: the run's folder; one without a log has no curves.

    Returns:
        Curves over decisions; empty if there is nothing to show. Lines cut short are passed over.
    """
    lines = read_lines(run / METRICS)
    panels = {
        "% won on the way": win_rates(lines),
        "entropy of decisions": [curve for curve in [trained(lines, "entropy")] if curve],
    }
    return {title: curves for title, curves in panels.items() if curves}


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The log's entries with a number of decisions."""
    if not path.is_file():
        return []
    found = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict) and isinstance(entry.get("decisions"), int):
            found.append(entry)
    return found


def win_rates(lines: list[dict[str, Any]]) -> list[Curve]:
    """A curve for each opponent that the policy was judged against, in per cent."""
    names = dict.fromkeys(
        key.removesuffix(WIN_RATE) for line in lines for key in line if key.endswith(WIN_RATE)
    )
    curves = []
    for name in names:
        keys = [name + WIN_RATE, f"{name}_low", f"{name}_high"]
        kept = [line for line in lines if all(key in line for key in keys)]
        y, low, high = ([100 * line[key] for line in kept] for key in keys)
        if kept:
            curves.append(Curve(f"v {name}", [line["decisions"] for line in kept], y, low, high))
    return curves


def trained(lines: list[dict[str, Any]], key: str) -> Curve | None:
    """A figure of the updates, thinned to means of neighbours."""
    kept = [line for line in lines if line.get("kind") == "train" and key in line]
    if not kept:
        return None
    step = -(-len(kept) // POINTS)
    groups = [kept[k : k + step] for k in range(0, len(kept), step)]
    return Curve(
        key,
        [group[-1]["decisions"] for group in groups],
        [sum(line[key] for line in group) / len(group) for group in groups],
    )

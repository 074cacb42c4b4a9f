"""The bench as it is run from the command line: progress, tables, JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from dominozoo_training.bench import Job, Row, as_json, clock_of, machine, peers, ratios
from dominozoo_training.bench.timing import Unavailable


def number(row: Row) -> str:
    """The median as it is shown: rates and bytes whole, seconds with digits."""
    return f"{row.median:.2f}" if row.unit == "s" else f"{row.median:,.0f}"


def unit(row: Row) -> str:
    """The unit with its clock: "/ CPU second", "s wall"."""
    clock = clock_of(row.case)
    if row.unit == "1/s":
        return "/ CPU second" if clock == "cpu" else "/ wall second"
    return f"{row.unit} {clock}".rstrip()


@dataclass(slots=True)
class Measured:
    """What a run found: rows, lines on what couldn't be measured, peers if they were asked for."""

    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    peers: list[dict[str, Any]] | None = None


def run_bench(jobs: Sequence[Job], seconds: float, with_peers: bool, console: Console) -> Measured:
    """Measure, telling each figure as it comes; peers after what they are compared with."""

    def tell(line: str) -> None:
        console.print(line, highlight=False, markup=False, soft_wrap=True)

    found = Measured()
    jobs = [*jobs, *(peers.missing_jobs(jobs, seconds) if with_peers else ())]
    for count, job in enumerate(jobs, 1):
        run_job(job, f"[{count}/{len(jobs)}]", found, tell)
    if with_peers:
        found.peers, missing = peers.run_peers(found.rows, seconds, tell)
        found.skipped += missing
    return found


def run_job(job: Job, told: str, found: Measured, tell: Callable[[str], None]) -> None:
    """One measurement and its lines."""
    try:
        for row in job.run():
            found.rows.append(row)
            batch = "" if row.batch is None else f" {row.batch}"
            tell(f"{told} {row.game} {row.case}{batch}: {number(row)} {unit(row)}")
    except Unavailable as error:
        if str(error) not in found.skipped:
            found.skipped.append(str(error))
        tell(f"{told} {job}: {error}")


def table_of(rows: Sequence[Row]) -> Table:
    """All figures; "CPU second" is processor time of one thread, "wall" the clock's time."""
    table = Table("game", "case", title=machine())
    for heading in ("batch", "median"):
        table.add_column(heading, justify="right")
    table.add_column("unit")
    table.add_column("spread", justify="right")
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None and before.game != row.game:
            table.add_section()
        batch = "" if row.batch is None else str(row.batch)
        table.add_row(row.game, row.case, batch, number(row), unit(row), f"{row.spread:.0%}")
    return table


def peers_table(found: Sequence[dict[str, Any]]) -> Table:
    """The peers beside the case of ours that does most nearly the same."""
    table = Table("peer", title="Random legal play, moves / CPU second")
    for heading in ("moves / s", "ours", "moves / s", "ratio", "in hands"):
        table.add_column(heading, justify="left" if heading == "ours" else "right")
    for row in found:
        batch = "" if row["our_batch"] is None else f" {row['our_batch']}"
        ours = f"{row['our_game']} {row['our_case']}{batch}"
        rates = (f"{row['median']:,.0f}", ours, f"{row['our_median']:,.0f}")
        hands = "" if row["hands_ratio"] is None else f"{row['hands_ratio']:.2f}"
        table.add_row(row["game"], *rates, f"{row['ratio']:.2f}", hands)
    return table


def show(found: Measured, console: Console) -> None:
    """Print the figures, what they say together, and what is missing."""
    console.print(table_of(found.rows))
    for ratio in ratios(found.rows):
        batch = f" at {ratio['batch']} tables"
        line = f"{ratio['game']}: {ratio['case']} / {ratio['to']}{batch}: {ratio['ratio']:.2f}"
        console.print(line, highlight=False, markup=False)
    if found.peers:
        console.print(peers_table(found.peers))
    for line in found.skipped:
        console.print(f"not measured: {line}", highlight=False, markup=False, soft_wrap=True)


def result(found: Measured) -> dict[str, Any]:
    """What ``--json`` writes: the contract's entries, then what was skipped, and the peers."""
    more = {} if found.peers is None else {"peers": found.peers}
    return as_json(found.rows, skipped=found.skipped, **more)

"""Where the score changes play: the same decisions at 0-0 and at match point.

    pip install -e '.[train]' -c constraints.txt
    python examples/compare_scores.py truc checkpoints/truc_v0 --decisions 20000 --seed 1 --show 2

A policy plays against itself. Each of its decisions is asked again with nothing changed but the scores,
or the stake where a game has one; a move *changes* if its chance does by more than `--above`. The
intervals are 95 %, over tables, since decisions of one hand are no independent ones. PLAYER is
whatever the arena takes and has chances: a checkpoint's folder, a run's, a bot file.
"""

from __future__ import annotations

import argparse
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from dominozoo.rules import LINE, SCORING, Rules, RulesError, parse
from dominozoo.tables import FAMILIES, Tables
from dominozoo.tiles import NAMES, TILE_COUNT, TRUC_NAMES, tiles_of
from dominozoo_training.evaluation.entrants import EntrantError, load_entrant
from dominozoo_training.evaluation.intervals import bootstrap_interval

Array = npt.NDArray[Any]

TABLES: Final = 256
ENDS: Final = ("left", "right", "up", "down")
TRUC_MOVES: Final = ("propose", "stand", "accept", "reject")


class Case(NamedTuple):
    """What differs from 0-0 at stake 1.

    Attributes:
        name: as it is shown.
        mine: score of the side to move.
        theirs: score of the next side.
        stake: what the hand is worth.
    """

    name: str
    mine: int = 0
    theirs: int = 0
    stake: int = 1


def cases(rules: Rules) -> list[Case]:
    """What is compared in a game: match points, and a doubled stake where there is one."""
    near = rules.target - 1
    if rules.variant.family == LINE and rules.value("scoring", SCORING[0]) != SCORING[0]:
        near = rules.target * 9 // 10  # a hand is worth many points
    found = [Case(f"{near}-0", near), Case(f"0-{near}", 0, near)]
    if rules.variant.family != LINE or near != rules.target - 1:
        found.append(Case(f"{near}-{near}", near, near))  # elsewhere a lead is broken, not matched
    if str(rules.value("tie", "")) in ("escalate", "double"):
        found.append(Case("0-0, stake 2", stake=2))
    return found


def with_score(rules: Rules, records: Array, case: Case) -> Array:
    """The same tables at another score."""
    changed, rows = records.copy(), np.arange(len(records))
    side = changed["turn"] % rules.sides
    changed["scores"] = 0
    changed["scores"][rows, side] = case.mine
    changed["scores"][rows, (side + 1) % rules.sides] = case.theirs
    if "stake" in (changed.dtype.names or ()):
        changed["stake"], changed["decider"] = case.stake, 0
    return changed


def chances(policy: Any, tables: Tables, records: Array) -> tuple[Array, Array]:
    """Chances of all actions at some tables, (B, actions), and the masks."""
    family = FAMILIES[tables.rules.variant.family]
    seen = np.zeros((len(records), family.layout.size), np.int16)
    mask = np.zeros((len(records), tables.num_actions), np.int8)
    turn = np.zeros(len(records), np.int8)
    family.batch.observe_tables(records, tables.packed, seen, mask, turn)
    return np.asarray(policy.probabilities(seen, mask), np.float64), mask


class Found(NamedTuple):
    """What came out: T moments of B tables.

    Attributes:
        records: (T, B) the tables.
        plain: (T, B, actions) chances at 0-0.
        other: by case, the chances then.
    """

    records: Array
    plain: Array
    other: dict[Case, Array]


def compare(policy: Any, rules: Rules, decisions: int, seed: int) -> Found:
    """Let a policy play as at 0-0, and ask it again in each case."""
    tables = Tables(rules, TABLES, seed=seed, auto_forced=True, checked=False)
    rng = np.random.default_rng(seed)
    wanted = cases(rules)
    records, plain = [], []
    other: dict[Case, list[Array]] = {case: [] for case in wanted}
    for _ in range(-(-decisions // TABLES)):
        records.append(with_score(rules, tables.records, Case("0-0")))
        chance, mask = chances(policy, tables, records[-1])
        for case in wanted:
            other[case].append(chances(policy, tables, with_score(rules, records[-1], case))[0])
        plain.append(chance)
        total = np.where(mask, chance, 0).cumsum(axis=1)
        draw = (1 - rng.random(TABLES)) * total[:, -1]
        tables.step((total < draw[:, None]).sum(axis=1))
    return Found(
        np.array(records), np.array(plain), {case: np.array(rows) for case, rows in other.items()}
    )


def share(hits: Array) -> str:
    """A share of decisions with its interval over tables; hits (T, B)."""
    return "{:6.2%} ({:.2%}..{:.2%})".format(*bootstrap_interval(hits.mean(axis=0)))


def name_of(rules: Rules, action: int) -> str:
    """An action in words."""
    tile, where = action % TILE_COUNT, action // TILE_COUNT
    if rules.variant.family == LINE:
        ends = 4 if rules.game == "french" else 2
        return f"{NAMES[tile]} {ENDS[where]}" if where < ends else ("draw", "pass")[tile]
    return TRUC_MOVES[tile] if where == 2 else TRUC_NAMES[tile] + (", called" if where else "")


def describe(rules: Rules, record: Any, before: Array, after: Array) -> str:
    """One decision: the hand, and the chances at 0-0 and then."""
    names = NAMES if rules.variant.family == LINE else TRUC_NAMES
    hand = " ".join(names[tile] for tile in tiles_of(int(record["hands"][record["turn"]])))
    where = f"hand {hand}"
    if rules.variant.family == LINE:
        ends = [str(end - 1) for end in record["ends"].tolist() if end]
        where += f"; ends {' '.join(ends) or 'none'}; tiles {record['sizes'].tolist()}"
    moves = np.flatnonzero((before > 0) | (after > 0)).tolist()
    told = [f"{name_of(rules, a)} {before[a]:.0%} -> {after[a]:.0%}" for a in moves]
    return f"  {where}: {'; '.join(told)}"


def main() -> None:
    """Compare, count, show."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("player")
    parser.add_argument("--decisions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--above", type=float, default=0.1, help="by how much a chance changes")
    parser.add_argument("--show", type=int, default=1, help="the largest changes of each case")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    args = parser.parse_args()
    args.decisions = 2 * TABLES if args.quick else args.decisions
    try:
        rules = parse(args.game)
        policy = load_entrant(args.player, rules).policy
    except (RulesError, EntrantError) as error:
        parser.error(str(error))
    if policy is None:
        parser.error(f"player: {args.player} has no chances, only moves")
    found = compare(policy, rules, args.decisions, args.seed)
    count = found.plain.shape[0] * found.plain.shape[1]
    print(f"{rules}: {args.player}, {count} decisions of its play at 0-0, seed {args.seed}")
    for case, chance in found.other.items():
        change = np.abs(chance - found.plain).max(axis=2)
        likeliest = chance.argmax(axis=2) != found.plain.argmax(axis=2)
        print(
            f"{case.name:14}a chance changes by more than {args.above:g}: "
            f"{share(change > args.above)}; the likeliest move: {share(likeliest)}"
        )
        for at in np.argsort(-change, axis=None)[: args.show].tolist():
            t, table = divmod(at, TABLES)
            record = found.records[t, table]
            print(describe(rules, record, found.plain[t, table], chance[t, table]))


if __name__ == "__main__":
    main()

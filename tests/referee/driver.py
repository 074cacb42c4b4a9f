"""What the comparisons of the product with the referee share: which games, and the match itself."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from dominozoo.line.table import NOBODY
from dominozoo.rules import VARIANTS, Rules, make_rules
from dominozoo.tables import Tables

Json = dict[str, Any]

HANDS = int(os.environ.get("REFEREE_HANDS", "0"))  # overrides how many hands a game gets


def each_setting(family: str, hands: int = 3000, few: int = 300) -> list[tuple[Rules, int]]:
    """Every game and player count with its hands, every other option value with a few."""
    found: dict[str, tuple[Rules, int]] = {}
    for game, variant in VARIANTS.items():
        if variant.family != family:
            continue
        for players in variant.options["players"].values:
            base = make_rules(game, players=players)
            found[str(base)] = (base, HANDS or hands)
            for name, option in variant.options.items():
                for value in option.values if len(option.values) < 10 else (2, 50):
                    chosen = {"players": players, name: value}
                    if not (chosen.get("draw") is True and players != 2):
                        rules = make_rules(game, **chosen)
                        found.setdefault(str(rules), (rules, HANDS or few))
    return list(found.values())


def none(seat: Any) -> int | None:
    """A seat or side of a record: None where it has nobody."""
    return None if int(seat) == NOBODY else int(seat)


def close(rewards: Any, expected: list[float]) -> bool:
    """Equal but for float32."""
    return all(abs(r - e) < 1e-5 for r, e in zip(list(rewards), expected, strict=True))


class Pair:
    """Two compiled tables (rewards by hand and by match) and the referee at the same game.

    A family says how to start both, and how a table and the referee's match tell where they stand.
    """

    match: Any

    def __init__(self, rules: Rules, seed: int) -> None:
        self.rules = rules
        self.by_hand = Tables(rules, 1, seed=seed)
        self.by_match = Tables(rules, 1, seed=seed, reward="match", checked=False)
        self.rng = np.random.default_rng(seed)
        self.begin()

    @property
    def table(self) -> Any:
        return self.by_hand.records[0]

    def begin(self) -> None:
        """Start a match for both."""
        raise NotImplementedError

    def deal(self) -> Json:
        """The deal that lies in the table's deck, as the referee takes it."""
        raise NotImplementedError

    def table_now(self) -> Json:
        """What the compiled table says."""
        raise NotImplementedError

    def referee_now(self) -> Json:
        """The same of the referee."""
        raise NotImplementedError

    def table_last(self) -> Json:
        """What the compiled table says of its last finished hand."""
        raise NotImplementedError

    def choose(self, legal: list[int]) -> int:
        """The move to make."""
        return legal[int(self.rng.integers(len(legal)))]

    def set_up(self, poser: int | None, standing: Json) -> None:
        """Reset both tables to a poser (Le Truc: dealer) and a standing."""
        for tables in (self.by_hand, self.by_match):
            tables.reset(posers=NOBODY if poser is None else poser)
            t = tables.records[0]
            for side, score in enumerate(standing.get("scores", [])):
                t["scores"][side] = score
            for name in standing.keys() & {"stake", "decider"}:
                t[name] = standing[name]
            tables.refresh()

    def decide(self) -> bool:
        """Compare, make one move on both, compare what came of it; True at a hand's end."""
        match = self.match
        legal = np.flatnonzero(self.by_hand.mask[0]).tolist()
        assert self.table_now() == self.referee_now()
        assert legal == match.legal()
        action: npt.NDArray[np.int64] = np.array([self.choose(legal)])
        rewards = match.step(int(action[0]))
        self.by_hand.step(action)
        self.by_match.step(action)
        assert close(self.by_hand.reward[0], rewards["hand"])
        assert close(self.by_match.reward[0], rewards["match"])
        assert bool(self.by_hand.hands_ended[0]) == match.hand_over
        assert bool(self.by_hand.terminated[0]) == match.over
        return bool(match.hand_over)

    def hand(self) -> None:
        """Play a hand through, compare its result and deal the next one for both."""
        while not self.decide():
            pass
        last, mine = self.match.last_hand, self.table_last()
        assert mine == {name: last[name] for name in mine}
        winners = [s for s in range(self.rules.sides) if int(self.table["winners"]) >> s & 1]
        assert winners == self.match.winners
        if self.match.over:
            self.begin()
        else:
            self.match.deal_next(**self.deal())

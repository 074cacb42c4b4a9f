"""Which games there are to check."""

from __future__ import annotations

from typing import Final

from dominozoo.rules import VARIANTS, Option, Rules, Value, make_rules

LONG: Final = 10  # of a longer range of values the two ends are enough


def every_game() -> list[Rules]:
    """Every game and player count, and with each every other option value, one at a time."""
    found: dict[str, Rules] = {}
    for game, variant in VARIANTS.items():
        for players in variant.options["players"].values:
            for name, option in variant.options.items():
                for value in _values(option):
                    chosen = {"players": players, name: value}
                    if chosen.get("draw") is True and players != 2:
                        continue
                    rules = make_rules(game, **chosen)
                    found.setdefault(str(rules), rules)
    return list(found.values())


def _values(option: Option) -> tuple[Value, ...]:
    taken = tuple(option.values)
    return (taken[0], taken[-1]) if len(taken) > LONG else taken

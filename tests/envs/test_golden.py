"""Golden playthroughs: three hands of every game, player count and option value, as text.

    python tests/envs/test_golden.py      # writes tests/golden anew, as `make golden`

A block a decision: what is new in the mover's view and observation since its last one, its action
of the legal ones, and everybody's rewards if there are any. A field that stayed is left out, and
``~`` is all that stood there before. Review a changed file as you would review code.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dominozoo.fields import LINE_LAYOUT, TRUC_LAYOUT
from dominozoo.rules import TRUC, VARIANTS, Option, Rules, Value, make_rules
from dominozoo.tiles import NAMES, TILE_COUNT, TRUC_NAMES

Json = dict[str, Any]

FOLDER = Path(__file__).resolve().parents[1] / "golden"
HANDS = 3
LARGEST = 100_000  # bytes
NONE = "-"


def values(option: Option) -> tuple[Value, ...]:
    """All values of an option; of a long range its two ends."""
    taken = option.values
    return (taken[0], taken[-1]) if len(taken) > 10 else tuple(taken)


def settings() -> dict[str, Rules]:
    """Every game and player count, and every other option value one at a time, by file name."""
    found = []
    for game, variant in VARIANTS.items():
        for players in variant.options["players"].values:
            for name, option in variant.options.items():
                for value in values(option):
                    chosen = {"players": players, name: value}
                    if not (chosen.get("draw") is True and players != 2):
                        found.append(make_rules(game, **chosen))
    return {file_name(rules): rules for rules in found}


def file_name(rules: Rules) -> str:
    """The text form with what file systems like: ``cutthroat-players-3-tie-void.txt``."""
    return re.sub(r"[(=, ]+", "-", str(rules)).rstrip(")") + ".txt"


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def event_text(event: Json) -> str:
    """``1.play 6-5@0>6,3``: seat, kind, tile, end, ends after."""
    text = f"{event['seat']}.{event['kind']}"
    if event["tile"] is not None or event["kind"] in ("draw", "double"):
        text += f" {event['tile'] or '?'}"
    if event["end"] is not None:
        text += f"@{event['end']}"
    if event["ends_after"] is not None:
        text += ">" + compact(event["ends_after"])[1:-1]
    return text


def move_text(move: Json) -> str:
    """``26:play 6-5@0``: id, kind, tile, end."""
    text = f"{move['id']}:{move['action']}"
    if move["tile"] is not None:
        text += f" {move['tile']}"
    return text if move["end"] is None else f"{text}@{move['end']}"


def tiles_text(tiles: list[Any]) -> str:
    """Tiles in a row; of French's arms a row each."""
    if tiles and isinstance(tiles[0], list):
        return " / ".join(map(tiles_text, tiles))
    return " ".join(tile or "?" for tile in tiles) or NONE


def view_text(view: Json, told: Json | None) -> dict[str, str]:
    """The fields of a view; ``told`` is the last hand that infos had for its seat."""
    texts = {}
    for name, value in view.items():
        if name == "events":
            texts[name] = " ".join(map(event_text, value)) or NONE
        elif name == "legal":
            texts[name] = " ".join(map(move_text, value)) or NONE
        elif name in ("board", "hand", "discards"):
            texts[name] = tiles_text(value)
        elif name == "last_hand" and value is not None and value == told:
            texts[name] = "as infos say"
        else:
            texts[name] = compact(value)
    return texts


def last_text(last: Json) -> dict[str, str]:
    """The fields of a last hand."""
    shown = {name: compact(value) for name, value in last.items()}
    hands = [f"[{tiles_text(hand)}]" for hand in last["hands"]]
    events = " ".join(map(event_text, last["events"]))
    return {**shown, "hands": " ".join(hands), "board": tiles_text(last["board"]), "events": events}


def observation_text(rules: Rules, vector: Any) -> dict[str, str]:
    """The fields of an observation, ``-`` for one that is all 0."""
    truc = rules.variant.family == TRUC
    layout, names = (TRUC_LAYOUT, TRUC_NAMES) if truc else (LINE_LAYOUT, NAMES)
    parts = layout.split(vector)
    laid_at = parts["played_at" if truc else "laid_at"].tolist()
    order = sorted(range(TILE_COUNT), key=lambda tile: (laid_at[tile], tile))
    texts = {}
    for field in layout.fields:
        part = parts[field.name]
        if not part.any():
            texts[field.name] = NONE
        elif field.shape == (TILE_COUNT,):
            texts[field.name] = " ".join(
                names[t] if field.kind == "flag" else mark(field.name, part[t], names[t])
                for t in order
                if part[t]
            )
        elif part.ndim == 2:
            rows = [
                (k, np.flatnonzero(flags).tolist()) for k, flags in enumerate(part) if any(flags)
            ]
            texts[field.name] = " ".join(f"{k}:{','.join(map(str, found))}" for k, found in rows)
        else:
            texts[field.name] = " ".join(map(str, part.tolist()))
    return texts


def mark(field: str, value: int, tile: str) -> str:
    """Tiles stand in the order of play, so who laid them needs no names."""
    return str(value) if field == "laid_by" else f"{value}:{tile}"


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, str]:
    """The fields that are new or different; ``~`` for all that stood there before."""
    found = {}
    for name, text in now.items():
        old = before.get(name, NONE)
        if text != old:
            longer = f" {text} ".replace(f" {old} ", " ~ ", 1).strip()
            found[name] = longer if len(old) > 4 else text
    return found


def row(fields: Mapping[str, str]) -> str:
    return "  ".join(f"{name}={text}" for name, text in fields.items())


def numbers(rewards: Any) -> str:
    return " ".join(f"{float(reward):.6g}" for reward in rewards)


class Playthrough:
    """Three hands by seed 1, every move taken by a small congruential generator."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        module = importlib.import_module(f"dominozoo.{rules.module}")
        self.env = module.raw_env(**rules.options)
        self.views: dict[str, dict[str, str]] = {}
        self.observations: dict[str, dict[str, str]] = {}
        self.told: dict[str, Json] = {}
        self.word = 1

    def lines(self) -> Iterator[str]:
        """The whole file."""
        yield str(self.rules)
        self.env.reset(seed=1)
        for hand in range(1, HANDS + 1):
            yield f"\nhand {hand}, {self.env.agent_selection} begins"
            yield from self.hand()
            if self.env.terminations[self.env.agent_selection]:
                yield from self.match_end()
                self.env.reset()

    def hand(self) -> Iterator[str]:
        while True:
            name = self.env.agent_selection
            mask = self.env.observe(name)["action_mask"]
            yield f"\n{name}"
            yield from self.look(name)
            self.word = (self.word * 75 + 74) % 65537
            legal = np.flatnonzero(mask).tolist()
            action = legal[self.word % len(legal)]
            self.env.step(action)
            yield f"  does  {action} of {' '.join(map(str, legal))}"
            if any(self.env.rewards.values()):
                yield f"  pays  {numbers(self.env.rewards.values())}"
            if self.env.infos[name]:
                break
        whole = last_text(self.env.position()["last_hand"])
        yield f"\nhand ends: {row(whole)}"
        self.told = {name: info["last_hand"] for name, info in self.env.infos.items()}
        for name, told in self.told.items():
            yield f"  infos {name}: {row(changes(whole, last_text(told))) or 'the same'}"

    def look(self, name: str) -> Iterator[str]:
        """What is new to a seat."""
        view = view_text(self.env.view(name), self.told.get(name))
        observation = observation_text(self.rules, self.env.observe(name)["observation"])
        yield f"  view  {row(changes(self.views.get(name, {}), view))}"
        yield f"  sees  {row(changes(self.observations.get(name, {}), observation))}"
        self.views[name], self.observations[name] = view, observation

    def match_end(self) -> Iterator[str]:
        yield "\nmatch ends"
        for name in self.env.possible_agents:
            yield name
            yield from self.look(name)


def text_of(rules: Rules) -> str:
    """The playthrough of a game."""
    return "\n".join(Playthrough(rules).lines()) + "\n"


def first_difference(golden: str, played: str) -> str:
    """The first lines that differ, with what stands around them."""
    diff = difflib.unified_diff(
        golden.splitlines(), played.splitlines(), "golden", "played", "", ""
    )
    return "\n".join(islice(diff, 24))


def test_every_game_and_option_value_has_a_golden_file_and_nothing_else_lies_there() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*settings()}, "run `make golden`"


@pytest.mark.parametrize("name", settings())
def test_a_game_goes_as_its_golden_file_says(name: str) -> None:
    golden = (FOLDER / name).read_text(encoding="utf-8")
    played = text_of(settings()[name])
    if golden != played:
        pytest.fail(f"{name}: `make golden` if this is meant\n{first_difference(golden, played)}")
    assert len(golden.encode()) <= LARGEST


def main() -> None:
    """Write all golden files; remove what doesn't belong there."""
    games = settings()
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.iterdir():
        if path.name not in games:
            path.unlink()
    for name, rules in games.items():
        (FOLDER / name).write_text(text_of(rules), encoding="utf-8")
    print(f"{len(games)} files in {FOLDER}")


if __name__ == "__main__":
    main()

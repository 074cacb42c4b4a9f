"""Positions, views, events and whole games as JSON; one table of any game behind one face.

A family of games (the line games, Le Truc) brings a :class:`Game`; environments, game records and
renderers use nothing else. A game record is JSON, an object a line: a header, then for each hand
its deal, its events and its end, then the end of the match. :func:`replay` plays it again and
refuses a record that says otherwise.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from dominozoo.fields import Layout
from dominozoo.line import position as line_position
from dominozoo.line import seen as line_seen
from dominozoo.line.batch import ENDED
from dominozoo.line.game import LineGame
from dominozoo.line.score import CUT, MATCH_OVER
from dominozoo.rules import TRUC, Rules, make_rules
from dominozoo.truc import position as truc_position
from dominozoo.truc import seen as truc_seen
from dominozoo.truc.game import TrucGame

Json = dict[str, Any]

NULL_SAYS: Final = ("poser",)  # of a view: None = the hand opens by rule
SETUP_KEYS: Final = ("deal", "opener", "dealer", "scores", "stake", "decider", "position")


class Game(Protocol):
    """One table of a game with its history since the reset; seats are 0..players-1.

    Attributes:
        rules: the game.
        layout: of the observation.
        state_layout: of the state.
        num_actions: size of the action space.
        rewards: by seat, of the last hand that ended.
    """

    rules: Rules
    layout: Layout
    state_layout: Layout
    num_actions: int
    rewards: list[float]

    def reset(self, seed: tuple[int, int] | None, setup: Mapping[str, Any]) -> int:
        """Start a match; returns the seat to move. A refused set-up changes nothing."""
        ...

    def step(self, action: int) -> int:
        """Move; returns the seat to move next, or ENDED * status when the hand ended."""
        ...

    def deal(self) -> int:
        """Deal the next hand; returns the seat to move."""
        ...

    def observe(self, seat: int) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
        """New arrays: observation and mask of a seat."""
        ...

    def state(self) -> npt.NDArray[np.int16]:
        """The whole table as a vector."""
        ...

    def last_hands(self) -> list[Json]:
        """The last finished hand as each seat knows it."""
        ...

    def last_hand(self) -> Json | None:
        """The last finished hand with every tile."""
        ...

    def position(self) -> Json:
        """The whole table as JSON types."""
        ...

    def start(self) -> Json:
        """The position at the reset."""
        ...

    def actions(self) -> list[int]:
        """Every action since the reset."""
        ...

    def action_of(self, event: Mapping[str, Any]) -> int | None:
        """The action of an event, None if it was no decision; ValueError names a wrong field."""
        ...

    def view(self, seat: int) -> Json:
        """What a seat may know."""
        ...


def new_game(rules: Rules, max_hands: int = 0, by_match: int = 0) -> Game:
    """An empty table of a game, of whatever family.

    Args:
        rules: the game.
        max_hands: hands after which the episode ends, 0 = never.
        by_match: 1 rewards the match, 0 each hand.
    """
    if rules.variant.family == TRUC:
        return TrucGame(rules, max_hands, by_match)
    return LineGame(rules, max_hands, by_match)


def setup_of(options: Mapping[str, Any] | None, also: tuple[str, ...] = ()) -> Json:
    """The known keys of ``reset(options=...)``; others are ignored.

    Args:
        options: as ``reset`` was given them.
        also: keys that the environment reads itself.

    Raises:
        ValueError: if a key is nearly one of the known: a slip of the pen must not go unseen.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a mapping, not {options!r}")
    known = (*SETUP_KEYS, *also)
    for key in options:
        if key in ("hands", "boneyard"):
            raise ValueError(
                f"options: {key!r} belongs inside 'deal': {{'deal': {{{key!r}: ...}}}}"
            )
        near = difflib.get_close_matches(str(key).casefold(), known, n=1, cutoff=0.7)
        if key not in known and near:
            raise ValueError(f"options: {key!r} is unknown; did you mean {near[0]!r}?")
    return {key: options[key] for key in SETUP_KEYS if key in options}


def observation_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int16]:
    """The observation vector of a view's seat; ValueError if the view can't be."""
    with _wrong_types_named():
        vector: npt.NDArray[np.int16] = _family_of(view).observation_from_view(view)
    return vector


def mask_from_view(view: Mapping[str, Any]) -> npt.NDArray[np.int8]:
    """The action mask of a view's seat; ValueError if a field is missing."""
    with _wrong_types_named():
        mask: npt.NDArray[np.int8] = _family_of(view).mask_from_view(view)
    return mask


def read_view(
    rules: Rules, view: Mapping[str, Any]
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
    """Observation and mask of a view that nobody has checked, of the seat to move.

    Every event must be legal as far as the seat can tell, and what the view says must follow from
    them: no tile twice, none shown that is hidden, sizes, board and ``legal`` as they must be.

    Args:
        rules: the game, those of the view.
        view: as ``view(agent)`` gives it; what follows from the events may be missing, or None.

    Raises:
        ValueError: if the view can't be; the text begins with the field.
    """
    read = truc_seen.read_view if rules.variant.family == TRUC else line_seen.read_view
    try:
        return read(rules, _without_nulls(view))
    except (TypeError, OverflowError, LookupError, AttributeError) as error:
        raise ValueError(f"view: a field has the wrong type or length: {error}") from error


def _without_nulls(view: Mapping[str, Any]) -> Mapping[str, Any]:
    """A view without the fields that are None, where that says no more than leaving them out."""
    if None in view.values():
        view = {key: v for key, v in view.items() if v is not None or key in NULL_SAYS}
    events = view.get("events")
    if not isinstance(events, list):
        return view
    if any(event.get("ends_after", 0) is None for event in events if isinstance(event, dict)):
        return {**view, "events": [_without_ends(event) for event in events]}
    return view


def _without_ends(event: Any) -> Any:
    if isinstance(event, dict) and event.get("ends_after") is None:
        return {key: value for key, value in event.items() if key != "ends_after"}
    return event


def _family_of(view: Mapping[str, Any]) -> Any:
    rules = make_rules(line_position.field_of(view, "game"))
    return truc_position if rules.variant.family == TRUC else line_position


@contextmanager
def _wrong_types_named() -> Iterator[None]:
    """A view comes from other programs: whatever its fields hold, it is a ValueError."""
    try:
        yield
    except (TypeError, OverflowError, LookupError, AttributeError) as error:
        raise ValueError(f"view: a field has the wrong type or length: {error}") from error


# Lines of a game record that are no events.
HEADER: Final = "game"
HAND: Final = "hand"
HAND_END: Final = "hand_end"
MATCH_END: Final = "match_end"
FORMAT: Final = 1
HAND_FIELDS: Final = (
    *("hand_number", "turn", "dealer", "poser", "hands", "boneyard", "scores", "stake", "decider"),
)


def record_of(game: Game, max_hands: int = 0) -> list[Json]:
    """The game record of everything played since the reset, a JSON object a line.

    * a header: ``kind`` "game", ``format``, ``game``, ``rules``, ``seed`` (two words of 32 bits),
      ``max_hands`` and ``start``, the position at the reset;
    * the events as in positions;
    * after a hand ``hand_end`` with what ``last_hand`` says, then for the next ``hand`` its deal;
    * at the end of the episode ``match_end``.
    """
    start = game.start()
    header = {
        "kind": HEADER,
        "format": FORMAT,
        "game": start.pop("game"),
        "rules": start.pop("rules"),
        "seed": start["rng"]["seed"],
        "max_hands": max_hands or None,
        "start": start,
    }
    return [header, *_played_lines(_game_from(header), start, game.actions())]


def _game_from(header: Json) -> Game:
    """The table at a record's start."""
    rules = make_rules(header["game"], **header["rules"])
    game = new_game(rules, header["max_hands"] or 0)
    start = {"game": header["game"], "rules": header["rules"], **header["start"]}
    game.reset(None, {"position": start})
    return game


def _played_lines(game: Game, start: Json, actions: list[int]) -> Iterator[Json]:
    """Play actions on a table at its start; the lines that tell of them."""
    told = len(start["events"])
    for action in actions:
        code = game.step(action)
        if code < ENDED:
            continue
        last = game.last_hand() or {}
        events = last.pop("events")
        yield from events[told:]
        told = 0
        yield {"kind": HAND_END, **last}
        if code // ENDED & (MATCH_OVER | CUT):
            end = game.position()
            yield {"kind": MATCH_END, **{k: end[k] for k in ("over", "winners", "scores")}}
            return
        game.deal()
        table = game.position()
        yield {"kind": HAND, **{k: table[k] for k in HAND_FIELDS if k in table}}
    yield from game.position()["events"][told:]


def write_record(path: str | Path, lines: Iterable[Json]) -> None:
    """Write a game record as JSON lines; the file appears whole or not at all."""
    target = Path(path)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def read_record(path: str | Path) -> list[Json]:
    """Read the lines of a game record; :func:`replay` checks them.

    Raises:
        ValueError: if a line is no JSON object; the text names it.
    """
    lines: list[Json] = []
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            line = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number}: is no JSON: {error}") from None
        if not isinstance(line, dict):
            raise ValueError(f"line {number}: is no JSON object")
        lines.append(line)
    return lines


def replay(lines: Sequence[Json]) -> Game:
    """Play a game record again.

    Args:
        lines: as :func:`record_of` or :func:`read_record` give them; the record may stop anywhere
            between two moves.

    Returns:
        The table at the record's end.

    Raises:
        ValueError: if the record says anything else than what its moves lead to; the text names
            the first such line and its field.
    """
    header = _check_header(lines)
    try:
        game, twin = _game_from(header), _game_from(header)
    except ValueError as error:
        raise ValueError(f"line 1: start: {error}") from None
    actions, refused = _play_lines(game, lines)
    told = [header, *_played_lines(twin, header["start"], actions)]
    _compare(lines, told)
    if refused:
        raise ValueError(refused)
    if len(told) > len(lines):
        raise ValueError(f"line {len(lines) + 1}: kind: {told[len(lines)]['kind']!r} is missing")
    return game


def _check_lines(lines: Any) -> None:
    """ValueError unless these are JSON objects in a list."""
    if isinstance(lines, str | bytes | Mapping) or not isinstance(lines, Sequence):
        raise ValueError(
            "a game record is a list of JSON objects, as record() or read_record() give it, "
            f"not {type(lines).__name__}"
        )
    for number, line in enumerate(lines, 1):
        if not isinstance(line, Mapping):
            raise ValueError(f"line {number}: is no JSON object")


def _check_header(lines: Sequence[Json]) -> Json:
    _check_lines(lines)
    if not lines or lines[0].get("kind") != HEADER:
        raise ValueError(f"line 1: kind: a game record begins with kind {HEADER!r}")
    header = lines[0]
    fields = ("kind", "format", "game", "rules", "seed", "max_hands", "start")
    for field in fields:
        if field not in header:
            raise ValueError(f"line 1: {field}: is missing")
    for field in header:
        if field not in fields:
            raise ValueError(f"line 1: {field}: is unknown")
    if header["format"] != FORMAT:
        raise ValueError(
            f"line 1: format: {header['format']!r} is not {FORMAT}, which is read here"
        )
    if not isinstance(header["rules"], dict):
        raise ValueError("line 1: rules: must be an object")
    try:
        make_rules(header["game"], **header["rules"])
    except ValueError as error:
        raise ValueError(f"line 1: rules: {error}") from None
    start, hands = header["start"], header["max_hands"]
    if hands is not None and (type(hands) is not int or hands < 1):
        raise ValueError(f"line 1: max_hands: must be null or at least 1, not {hands!r}")
    if not isinstance(start, dict) or not isinstance(start.get("rng"), dict):
        raise ValueError("line 1: start: must be a position with rng")
    if header["seed"] != start["rng"].get("seed"):
        raise ValueError("line 1: seed: is not that of start.rng")
    return header


def _play_lines(game: Game, lines: Sequence[Json]) -> tuple[list[int], str]:
    """Make the moves that the events tell of: the actions made, and why one was refused, or ""."""
    actions: list[int] = []
    code = 0
    for number, line in enumerate(lines[1:], 2):
        if line.get("kind") in (HAND_END, HAND, MATCH_END):
            continue
        try:
            action = game.action_of(line)
            if action is None:
                continue
            if code // ENDED & (MATCH_OVER | CUT):
                raise ValueError("kind: the game is over")
            code = _move(game, action, line)
        except ValueError as error:
            return actions, f"line {number}: {error}"
        actions.append(action)
    return actions, ""


def _move(game: Game, action: int, event: Json) -> int:
    try:
        code = game.step(action)
    except ValueError as error:
        raise ValueError(f"{'kind' if event.get('tile') is None else 'tile'}: {error}") from None
    if code >= ENDED and not code // ENDED & (MATCH_OVER | CUT):
        game.deal()
    return code


def _compare(lines: Sequence[Json], told: list[Json]) -> None:
    """ValueError at the first line of the record that is not the one told."""
    for number, (line, right) in enumerate(zip(lines, told, strict=False), 1):
        if line == right:
            continue
        for field in {**right, **line}:
            if field not in right:
                raise ValueError(f"line {number}: {field}: is unknown")
            if field not in line:
                raise ValueError(f"line {number}: {field}: is missing")
            if line[field] != right[field]:
                raise ValueError(
                    f"line {number}: {field}: the game leads to {right[field]!r}, "
                    f"not {line[field]!r}"
                )
    if len(lines) > len(told):
        extra = lines[len(told)]
        if extra.get("kind") in (HAND_END, HAND, MATCH_END):
            raise ValueError(f"line {len(told) + 1}: kind: {extra['kind']!r} doesn't come here")

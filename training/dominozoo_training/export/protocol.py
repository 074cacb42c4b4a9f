"""Answers to ``dombot-line/1``, whatever they travel on: a text in, a text out, nothing kept.

A request holds the whole view of one seat, so the same one always gets the same answer; undo,
reconnecting and several servers need nothing else. No request opens a file or changes anything.
"""

from __future__ import annotations

import functools
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy.typing as npt

from dominozoo import __version__
from dominozoo.bots.bundle import Bot, load_bot
from dominozoo.bots.levels import Level, choose_one
from dominozoo.line.position import legal_of as line_legal
from dominozoo.notation import new_game, read_view
from dominozoo.rules import TRUC, Rules, RulesError, make_rules
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc.position import legal_of as truc_legal
from dominozoo_training.evaluation.asking import LateError, within
from dominozoo_training.export.messages import (
    DEPTH,
    LINE_BYTES,
    MOST_MS,
    PROTOCOL,
    TIME_MS,
    Act,
    Answer,
    AskRequest,
    BotInfo,
    Bye,
    Can,
    CanRequest,
    Chance,
    Error,
    Hello,
    HelloRequest,
    Legal,
    LegalRequest,
    Move,
    Option,
    Request,
    RequestError,
)
from dominozoo_training.export.parsing import id_of, parse, read_request, without_nulls

Array = npt.NDArray[Any]

WORD: Final = 2**64 - 1


class Player(Protocol):
    """What the desk asks: an exported bot, or anything that looks like one."""

    @property
    def rules(self) -> Rules:
        """The game that it plays."""
        ...

    @property
    def bundle(self) -> Any:
        """Its bundle: ``manifest``, ``sampled`` and ``levels`` are looked at."""
        ...

    @property
    def id(self) -> str:
        """Its name."""
        ...

    @property
    def version(self) -> str:
        """Its version."""
        ...

    def probabilities(self, observation: Any, mask: Any, /) -> Array:
        """Probabilities (B, actions)."""
        ...

    def evaluate(self, observation: Any, mask: Any, /) -> tuple[Array, Array]:
        """Probabilities (B, actions) and values (B,)."""
        ...


def load_bots(paths: Sequence[str | Path]) -> list[Bot]:
    """Read bundles, or bots that ship by the name of their game.

    Raises:
        ValueError: one can't be read, or two have the same id.
    """
    bots: dict[str, Bot] = {}
    for path in paths:
        bot = load_bot(path)
        if bot.id in bots:
            raise ValueError(
                f"{path}: another bot is called {bot.id!r}, too; export one with --id of its own"
            )
        bots[bot.id] = bot
    return list(bots.values())


def uniforms(seed: int | None) -> tuple[float, float]:
    """Two numbers in 0..1, 1 excluded: the first two of splitmix64 from a seed, or fresh ones.

    Source of the generator: Steele, Lea, Flood, "Fast splittable pseudorandom number generators"
    (2014). The upper 53 bits of a word are taken, divided by 2**53.
    """
    if seed is None:
        return random.random(), random.random()
    words = []
    for k in (1, 2):
        z = (seed + k * 0x9E3779B97F4A7C15) & WORD
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
        words.append((z ^ z >> 31) >> 11)
    return words[0] / 2**53, words[1] / 2**53


def choose(chances: Sequence[float], ask: AskRequest, levels: Mapping[str, Level]) -> int:
    """The place of the action that a request gets, from the legal actions' probabilities."""
    blunder, temperature = levels[ask.level]
    if ask.select is not None:
        temperature = float(ask.select == "sampled")
    return choose_one(chances, Level(blunder, temperature * ask.temperature), *uniforms(ask.seed))


def moves_of(rules: Rules, mask: Array) -> list[dict[str, Any]]:
    """The legal moves of a mask as JSON."""
    if rules.variant.family == TRUC:
        return truc_legal(mask)
    return line_legal(mask, (len(mask) - 2) // TILE_COUNT)


def error_answer(error: RequestError, given: Any = None) -> Error:
    """The error object; the id comes back if it is one."""
    text = str(error).encode("ascii", "backslashreplace").decode()
    field = error.field and error.field[:100]
    answer = Error(code=error.code, message=text[:500], field=field)
    answer.id = given
    return answer


class Desk:
    """Bots, and where they are asked.

    Attributes:
        bots: by id, in the order in which they are offered.
    """

    def __init__(self, bots: Sequence[Player]) -> None:
        """Offer some bots."""
        self.bots = {bot.id: bot for bot in bots}

    def warm_up(self) -> None:
        """Read and answer a first view of each game, so that no request waits for compilers."""
        for bot in self.bots.values():
            game = new_game(bot.rules)
            view = game.view(game.reset((1, 0), {}))
            self.answer(json.dumps({"op": "ask", "bot": bot.id, "view": view}).encode())

    def answer(self, text: bytes, op: str | None = None) -> Answer:
        """Answer a request.

        Args:
            text: one JSON object in UTF-8.
            op: the operation, where the address says it: what the text says is ignored.
        """
        given, start = None, time.perf_counter()
        try:
            found = parse(text)
            if op is not None:
                found["op"] = op
            given = id_of(found)
            answer = self._answer(read_request(found), start)
        except RequestError as error:
            return error_answer(error, given)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the service
            print(f"dominozoo: {type(error).__name__}: {error}", file=sys.stderr)
            return error_answer(RequestError("internal", "the server failed here"), given)
        answer.id = given
        return answer

    def _answer(self, request: Request, start: float) -> Answer:
        if isinstance(request, AskRequest):
            return self._ask(request, start)
        if isinstance(request, LegalRequest):
            return self._legal(request)
        if isinstance(request, CanRequest):
            return self._can(request)
        if isinstance(request, HelloRequest):
            return self._hello(request)
        return Bye()

    def _hello(self, request: HelloRequest) -> Hello:
        if request.protocol not in (None, PROTOCOL):
            raise RequestError("bad_request", f"protocol: {PROTOCOL} is spoken here", "protocol")
        limits = {"line_bytes": LINE_BYTES, "depth": DEPTH, "time_ms": MOST_MS}
        return Hello(
            server=f"dominozoo {__version__}",
            limits=limits,
            bots=[bot_info(bot) for bot in self.bots.values()],
        )

    def _can(self, request: CanRequest) -> Can:
        candidates = list(self.bots.values()) if request.bot is None else [self._named(request.bot)]
        try:
            rules = make_rules(request.game, **without_nulls(request.rules))
        except (RulesError, TypeError) as error:
            return Can(yes=False, exact=False, bots=[], reason=str(error)[:500])
        able = [bot for bot in candidates if plays(bot, rules)]
        reason = None
        if not able:
            known = "; ".join(sorted({str(bot.rules) for bot in candidates}))
            reason = f"nobody plays {rules.game} for {rules.players} players here, but: {known}"
        exact = any(bot.rules == rules for bot in able)
        return Can(yes=bool(able), exact=exact, bots=[bot.id for bot in able], reason=reason)

    def _ask(self, ask: AskRequest, start: float) -> Act:
        rules = rules_of_view(ask.view)
        bot = self._player(ask.bot, rules)
        observation, mask = read(rules, ask.view)
        moves = moves_of(rules, mask)
        thought = think(bot, observation, mask, [move["id"] for move in moves], ask, start)
        if thought is not None:
            move = moves[choose(thought[0], ask, bot.bundle.levels)]
        elif ask.fallback:
            move = moves[int(uniforms(ask.seed)[1] * len(moves))]
        else:
            raise RequestError("late", f"no answer within {ask.time_ms} ms")
        words = (move["action"], move["tile"], move["end"])
        told = None
        if ask.probabilities and thought is not None:
            told = [
                Chance(id=move["id"], probability=chance)
                for move, chance in zip(moves, thought[0], strict=True)
            ]
        return Act(
            bot=bot.id,
            version=bot.version,
            action=move["id"],
            text=" ".join(str(word) for word in words if word is not None),
            tile=move["tile"],
            end=move["end"],
            forced=len(moves) == 1,
            fallback=thought is None,
            value=None if thought is None else thought[1],
            probabilities=told,
        )

    def _legal(self, request: LegalRequest) -> Legal:
        rules = rules_of_view(request.view)
        mask = read(rules, request.view)[1]
        return Legal(legal=[Move(**move) for move in moves_of(rules, mask)])

    def _player(self, name: str | None, rules: Rules) -> Player:
        if name is not None:
            bot = self._named(name)
            if not plays(bot, rules):
                raise RequestError("wrong_game", f"{name} plays {bot.rules}, not {rules}", "view")
            return bot
        able = [bot for bot in self.bots.values() if plays(bot, rules)]
        if not able:
            raise RequestError("wrong_game", f"nobody here plays {rules}", "view")
        return next((bot for bot in able if bot.rules == rules), able[0])

    def _named(self, name: str) -> Player:
        if name not in self.bots:
            known = ", ".join(self.bots)
            raise RequestError("unknown_bot", f"bot: none is called {name!r}, but: {known}", "bot")
        return self.bots[name]


def think(
    bot: Player, observation: Array, mask: Array, actions: list[int], ask: AskRequest, start: float
) -> tuple[list[float], float | None] | None:
    """Probabilities of the legal actions, and the value if asked for; None if the time is over.

    A forced move needs no thought. In a process's main thread other bots than bundles, whose size
    bounds their time, are interrupted; wherever an answer comes too late it isn't used.
    """
    limit = ask.time_ms / 1000
    left = limit - (time.perf_counter() - start)
    if left <= 0:
        return None
    if len(actions) == 1 and not ask.value:
        return [1.0], None
    seen, legal = observation[None], mask[None]
    patience = None if isinstance(bot, Bot) else left  # the timer's system calls take their time
    value = None
    try:
        if ask.value:
            chances, worth = within(patience, lambda: bot.evaluate(seen, legal))
            value = float(worth[0])
        else:
            chances = within(patience, lambda: bot.probabilities(seen, legal))
    except LateError:
        return None
    row = chances[0].tolist()
    found = [row[action] for action in actions], value
    return found if time.perf_counter() - start <= limit else None


def plays(bot: Player, rules: Rules) -> bool:
    """Whether a bot plays a game: the same one for as many players; options it may meet."""
    return (bot.rules.game, bot.rules.players) == (rules.game, rules.players)


def rules_of_view(view: dict[str, Any]) -> Rules:
    """The rules that a view names; RequestError if there are none such."""
    game, options = view.get("game"), view.get("rules")
    if not isinstance(game, str) or not isinstance(options, dict):
        name = "rules" if isinstance(game, str) else "game"
        raise bad_view(name, "is missing or of the wrong type")
    try:
        return _rules(
            game, tuple((name, type(v), v) for name, v in options.items() if v is not None)
        )
    except (RulesError, TypeError) as error:
        raise bad_view("rules" if is_game(game) else "game", str(error)) from None


def bad_view(field: str, why: str) -> RequestError:
    """The error of a view that can't be, by its field: ``hand``, ``events[3].tile``."""
    return RequestError("bad_view", f"view.{field}: {why}", f"view.{field}")


def is_game(name: str) -> bool:
    """Whether a game is called so."""
    try:
        make_rules(name)
    except RulesError:
        return False
    return True


@functools.lru_cache(256)
def _rules(game: str, options: tuple[tuple[str, type, Any], ...]) -> Rules:
    """Rules by their options; the types are there because 1, 1.0 and True are equal."""
    return make_rules(game, **{name: value for name, _, value in options})


def read(rules: Rules, view: dict[str, Any]) -> tuple[Array, Array]:
    """Observation and mask of a view; RequestError naming the field that is wrong."""
    if view.get("phase") == "over" or view.get("over") is True:
        raise RequestError("over", "the game is over", "view.phase")
    turn, seat = view.get("turn"), view.get("seat")
    if turn is not None and seat is not None and turn != seat:
        raise RequestError("not_your_turn", "view.turn: another seat is to move", "view.turn")
    try:
        return read_view(rules, {**view, "rules": rules.options})
    except ValueError as error:
        field, _, why = str(error).partition(": ")
        raise bad_view(field, why) from None


def told_levels(bundle: Any) -> dict[str, Any]:
    """The levels as the manifest has them, with their strength; older bundles name none."""
    named: dict[str, Any] = bundle.manifest.get("levels") or {
        name: level._asdict() for name, level in bundle.levels.items()
    }
    return named


def bot_info(bot: Player) -> BotInfo:
    """What ``hello`` says of a bot."""
    manifest = bot.bundle.manifest
    return BotInfo(
        id=bot.id,
        version=bot.version,
        licence=str(manifest.get("licence", "")),
        game=bot.rules.module,
        rules=dict(bot.rules.options),
        levels=told_levels(bot.bundle),
        options={
            "level": Option(type="enum", values=list(bot.bundle.levels), default="hard"),
            "select": Option(
                type="enum",
                values=["greedy", "sampled"],
                default="sampled" if bot.bundle.sampled else "greedy",
            ),
            "temperature": Option(type="number", min=0.05, max=10, default=1.0),
            "time_ms": Option(type="integer", min=1, max=MOST_MS, default=TIME_MS),
        },
        value=manifest.get("value"),
        strength=manifest.get("strength"),
    )

"""A person against bots in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dominozoo.bots import OUTSIDE, kernels, seed_bots
from dominozoo.line.batch import ENDED
from dominozoo.line.score import CUT, MATCH_OVER
from dominozoo.notation import new_game
from dominozoo.render import truc
from dominozoo.render.text import HIDDEN, SIDES, draw, event_text
from dominozoo.rules import TRUC, Rules, pack_line
from dominozoo.tables import split_seed
from dominozoo.tiles import NAMES, TILE_COUNT, TRUC_NAMES
from dominozoo_training.evaluation.entrants import Entrant, chosen, load_entrant

ME: Final = 0
HELP: Final = "a number, h = hint, q = quit"

Ask = Callable[[str], str]
Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Speech:
    """How a family of games is talked about.

    Attributes:
        tiles: their names.
        ways: of playing a tile, by the part of the action space.
        said: what isn't a tile: the last actions.
        asks: a tile that can be played in two ways needs the way; else the first is meant.
        held: what a seat is told to have had after a hand.
        won: how a hand was won, by its reason.
    """

    tiles: tuple[str, ...]
    ways: tuple[str, ...]
    said: tuple[str, ...]
    asks: bool
    held: str
    won: dict[str, str]


LINE_WON: Final = {"out": "went out", "block": "won the blocked hand"}
TRUC_WON: Final = {"tricks": "won the round", "fold": "won: the double was refused"}
NOBODY: Final = {"tie": "The hand is blocked and tied.", "void": "The round has no winner."}


def speech_of(rules: Rules) -> Speech:
    """How a game is talked about."""
    if rules.variant.family == TRUC:
        said = ("propose", "stand", "accept", "reject")
        return Speech(TRUC_NAMES, ("up", "double"), said, False, "held", TRUC_WON)
    ends = int(pack_line(rules)[0]["ends"])
    ways = tuple(map(str, range(ends))) if ends == 4 else SIDES
    return Speech(NAMES, ways, ("draw", "pass"), True, "had left", LINE_WON)


class QuitError(Exception):
    """The person has had enough."""


@dataclass
class Player:
    """A bot at the table.

    Attributes:
        entrant: how it moves.
        policy: what gives its chances and its value, None for a bot that only moves.
    """

    entrant: Entrant
    policy: Any = None


def load_player(spec: str, rules: Rules) -> Player:
    """Load an opponent: a scripted bot, an exported bot, or a checkpoint.

    Raises:
        EntrantError: if it is unknown, unreadable, or made for another game.
    """
    entrant = load_entrant(spec, rules)
    return Player(entrant, entrant.policy)


class Sitting:
    """One person and some bots at one table; player_0 is the person.

    Args:
        rules: the game.
        players: the bots, in playing order behind the person; they are repeated as needed.
        seed: of deals and bots.
        hands: how many hands to play, 0 = until the match is over.
        ask: shows a prompt and returns a line; EOFError ends the game.
        say: shows lines.
    """

    def __init__(
        self,
        rules: Rules,
        players: Sequence[Player],
        seed: int,
        hands: int,
        ask: Ask,
        say: Say,
    ) -> None:
        if len(players) > rules.players - 1:
            raise ValueError(f"against: {rules} has {rules.players - 1} seats beside yours")
        self.rules, self.ask, self.say = rules, ask, say
        self.bots = [players[k % len(players)] for k in range(rules.players - 1)]
        self.table: Any = new_game(rules, hands)
        self.speech = speech_of(rules)
        self.cross = len(self.speech.ways) == 4
        self.kernels = kernels(rules)
        self.stream = np.zeros((1, 4), np.uint32)
        seed_bots(self.stream, *split_seed(seed), 0)
        self.rng = np.random.default_rng(seed)
        self.seat: int = self.table.reset(split_seed(seed), {})

    def play(self) -> None:
        """Play until the match is over, the hands are played, or the person leaves."""
        try:
            self.say(f"You are player_{ME}. {HELP}.")
            while self.turn():
                pass
        except (EOFError, KeyboardInterrupt):
            self.say("\nBye.")
        except QuitError:
            self.say("Bye.")

    def turn(self) -> bool:
        """Let the seat to move make its move; False when there is nothing more to play."""
        seat = self.seat
        observation, mask = self.table.observe(seat)
        if seat != ME:
            action = self.choice(self.bots[seat - 1], seat, observation, mask)
        elif mask.sum() == 1 and mask[-2:].any():
            action = int(mask.argmax())
        else:
            action = self.question(observation, mask)
        code = self.table.step(action)
        if code < ENDED:
            self.say_last_event(self.table.view(ME)["events"][-1])
            self.seat = code
            return True
        last = self.table.last_hands()[ME]
        self.say_last_event(last["events"][-1])
        self.say(self.result(last))
        status = code // ENDED
        if status & (MATCH_OVER | CUT):
            self.say(self.match_result(bool(status & MATCH_OVER)))
            return False
        self.seat = self.table.deal()
        return True

    def choice(self, bot: Player, seat: int, observation: Any, mask: Any) -> int:
        """The move of a bot."""
        entrant = bot.entrant
        if entrant.choose is not None:
            return chosen(entrant, self.table, self.stream)
        if entrant.act is not None:
            chance = self.rng.random(1)
            return int(entrant.act(observation[None], mask[None], chance)[0])
        codes = np.full((1, self.rules.players), OUTSIDE, np.int8)
        codes[0, seat] = entrant.code
        actions = np.zeros(1, np.int64)
        where = np.ones(1, np.bool_)
        table = self.table
        self.kernels.choose(table.tables, table.packed, codes, self.stream, actions, where)
        return int(actions[0])

    def question(self, observation: Any, mask: Any) -> int:
        """Ask the person for a move until it is a legal one."""
        view = self.table.view(ME)
        self.say("\n" + draw(view))
        moves: dict[str, list[int]] = {}
        for move in view["legal"]:
            moves.setdefault(move["tile"] or move["action"], []).append(move["id"])
        said = {word: moves.pop(word)[0] for word in self.speech.said if word in moves}
        self.say("  your tiles: " + "  ".join(numbered(view["hand"], moves)))
        extra = "".join(f", {word[0]} = {word}" for word in said)
        if not self.speech.asks and any(len(ids) > 1 for ids in moves.values()):
            extra += ", d behind a number = face down, calling double"
        while True:
            words = self.ask(f"Your move ({HELP}{extra}): ").casefold().split()
            if words == ["q"]:
                raise QuitError
            if words == ["h"]:
                self.say(self.hint(observation, mask))
                continue
            meant = [word for word in said if words and word.startswith(words[0])]
            if meant:
                return said[meant[0]]
            action = self.read_move(words, view["hand"], moves)
            if action is not None:
                return action

    def read_move(
        self, words: list[str], hand: list[str], moves: dict[str, list[int]]
    ) -> int | None:
        """The action that is meant by a number and perhaps a way; None if it is none."""
        number = words[0] if words else ""
        if not (number.isascii() and number.isdigit() and 1 <= int(number[:3]) <= len(hand)):
            self.say(f"That is no move: {HELP}; the tiles are numbered 1 to {len(hand)}.")
            return None
        tile = hand[int(number[:3]) - 1]
        if tile not in moves:
            why = f"{tile} doesn't fit now; tiles that fit are marked with *."
            self.say(why if moves else "No tile can be played now: first say what is to be.")
            return None
        ids = moves[tile]
        if len(words) < 2 and (len(ids) == 1 or not self.speech.asks):
            return ids[0]
        names = {self.way_name(action): action for action in ids}
        if len(names) == 1 and self.speech.asks:
            return ids[0]
        way = words[1] if len(words) > 1 else self.ask_way(tile, list(names))
        found = [action for name, action in names.items() if way and name.startswith(way)]
        if not found:
            self.say(f"{way!r} is none of {', '.join(names)}.")
            return None
        return found[0]

    def ask_way(self, tile: str, names: list[str]) -> str:
        """Ask at which end a tile is to lie."""
        answer = "".join(self.ask(f"{tile} fits {' and '.join(names)}; which? ").casefold().split())
        if answer == "q":
            raise QuitError
        return answer

    def way_name(self, action: int) -> str:
        """A way to play a tile as the person names it: left, right, a French arm, up, double."""
        return self.speech.ways[action // TILE_COUNT]

    def move_name(self, action: int) -> str:
        """A move in words."""
        beyond = action - len(self.speech.ways) * TILE_COUNT
        if beyond >= 0:
            return self.speech.said[beyond]
        tile = self.speech.tiles[action % TILE_COUNT]
        return f"{tile} {'arm ' if self.cross else ''}{self.way_name(action)}"

    def hint(self, observation: Any, mask: Any) -> str:
        """What the first bot would do in the person's place."""
        bot = self.bots[0]
        name = getattr(bot.policy, "id", bot.entrant.name)
        if bot.policy is None:
            return f"{name} would play {self.move_name(self.choice(bot, ME, observation, mask))}."
        chances = bot.policy.probabilities(observation[None], mask[None])[0]
        value = float(bot.policy.value(observation[None])[0])
        best = sorted(np.flatnonzero(mask).tolist(), key=lambda action: -chances[action])
        words = ", ".join(f"{self.move_name(a)} {100 * chances[a]:.0f} %" for a in best)
        return f"{name} would play: {words}. It expects {value:+.2f} from this hand."

    def say_last_event(self, event: Any) -> None:
        """Tell a move: who played, drew or passed."""
        plain = self.rules.variant.family != TRUC
        text = event_text(event, self.cross) if plain else truc.event_text(event)
        self.say("  " + self.named(text))

    def named(self, text: str) -> str:
        """A text with the person marked."""
        return text.replace(f"player_{ME} ", f"player_{ME} (you) ", 1)

    def result(self, last: Any) -> str:
        """How a hand ended, in lines."""
        if last["seat"] is None:
            lines = [NOBODY.get(last["reason"], "The hand is blocked.")]
        else:
            how = self.speech.won.get(last["reason"], "")
            lines = [self.named(f"player_{last['seat']} {how}.")]
        if isinstance(last["points"], list):
            lines.append("Penalties: " + ", ".join(map(str, last["points"])))
        elif last["points"]:
            lines[0] += f" Worth {last['points']}."
        if last["effect"] in ("reset", "bruck", "decider"):
            words = {"decider": "The next hand decides.", "bruck": "The run is broken."}
            lines.append(words.get(last["effect"], "The scores start anew."))
        for seat, hand in enumerate(last["hands"]):
            tiles = " ".join(tile or HIDDEN for tile in hand)
            lines.append(self.named(f"player_{seat} {self.speech.held}: {tiles or 'nothing'}"))
        lines.append("Scores: " + ", ".join(map(str, last["scores"])))
        return "\n".join(["", *("  " + line for line in lines), ""])

    def match_result(self, over: bool) -> str:
        """Who won the match."""
        winners = self.table.view(ME)["winners"]
        if not over:
            return "The hands are played."
        if not winners:
            return "The match is over: nobody won."
        mine = self.rules.side_of(ME) in winners
        if mine and len(winners) > 1:
            return "The match is over: you share the win."
        return "The match is over: you won." if mine else "The match is over: you lost."


def numbered(hand: list[str], moves: dict[str, list[int]]) -> list[str]:
    """Tiles with their numbers, those that fit with a star: ``2:6-5*``."""
    return [f"{k}:{tile}{'*' if tile in moves else ''}" for k, tile in enumerate(hand, 1)]

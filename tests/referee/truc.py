"""The referee of Domino Le Truc.

Numbers such as "S2 20" and "A29" are those of the rules document. Two players, seats 0 and 1; the
non-dealer leads the first trick.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from .line import Json, Maybe, Rewards, Tile, check_options, event, match_rewards, parse, written

# Strongest first, a row a sum (rules section 2); the place is the id.
ROWS = (
    "6-6 8-4 7-5",
    "6-5 8-3 7-4",
    "5-5 6-4 7-3",
    "5-4 6-3 7-2",
    "4-4 6-2 5-3",
    "6-1 5-2 4-3",
    "3-3 5-1 4-2",
    "5-0 4-1 3-2",
    "2-2 4-0 3-1",
    "0-0",
)
SLOTS: list[Tile] = [parse(name) for row in ROWS for name in row.split()]
TILES = len(SLOTS)
CALL = TILES  # added to a slot: face down with a call
PROPOSE, STAND, ACCEPT, REJECT = range(2 * TILES, 2 * TILES + 4)
NAMES = {PROPOSE: "propose", STAND: "stand", ACCEPT: "accept", REJECT: "reject"}
OPTIONS = {"players": 2, "target": 30, "max_redeals": 1}
TAKES: dict[str, Sequence[Any]] = {
    "players": (2,),
    "target": range(1, 1001),
    "max_redeals": range(4),
}


def trick_winner(led: Tile, followed: Tile) -> int:
    """0 if the led tile wins, 1 if the other one does, -1 on a tie; always pairwise (A27)."""
    for blank, other, wins in ((led, followed, 0), (followed, led, 1)):
        if blank == (0, 0) and other[0] == other[1]:
            return wins
    if sum(led) == sum(followed):
        return -1
    return 0 if sum(led) > sum(followed) else 1


def round_result(tricks: Sequence[Maybe]) -> int | str | None:
    """Who has won the round after these tricks, "void", or None: it goes on (S2 07-13)."""
    won = [seat for seat in tricks if seat is not None]
    for seat in (0, 1):
        if won.count(seat) == 2:
            return seat
    if len(tricks) < 2:
        return None
    if not won:
        return "void" if len(tricks) == 3 else None
    # With a tie among the tricks the first one won decides: trick 2 after a tied trick 1 (S2 09-10),
    # trick 1 before a tied trick 2 or 3 (S2 12, 13), trick 3 after two ties (A28).
    return won[0] if None in tricks else None


class Match:
    """One match, a round at a time; start() makes it, deal_next() goes on."""

    def __init__(self, options: Json, scores: list[int], dealer: int) -> None:
        self.options = options
        self.scores = scores
        self.dealer = 1 - dealer  # the first deal turns it
        self.hand_number = 0
        self.hand_over = True
        self.over = False
        self.winners: list[int] = []
        self.last_hand: Json | None = None
        self.stake, self.decider, self.passes = 1, False, 0
        self.poser: Maybe = None
        self.ends: None = None
        self.locked: list[bool] = []

    def deal_next(self, hands: Sequence[Sequence[str]], boneyard: Sequence[str]) -> None:
        """Set up the next round: tiles by seat, the stock in dealing order."""
        if self.over or not self.hand_over:
            raise ValueError("no round to deal now")
        self.hands = [[parse(tile) for tile in hand] for hand in hands]
        self.stock = [parse(tile) for tile in boneyard]
        if sorted(self.hands[0] + self.hands[1] + self.stock) != sorted(SLOTS):
            raise ValueError("the deal is not the set, each tile once")
        if self.sizes != [3, 3]:
            raise ValueError("the deal is not three tiles each")
        self.hand_number += 1
        self.hand_over = False
        self.dealer = 1 - self.dealer  # A33: after every round
        self.leader = self.non_dealer
        self.opener: Maybe = None
        self.led: Tile | None = None
        self.called: tuple[int, Tile] | None = None
        self.tricks: list[Maybe] = []
        self.multiplier = 1  # A31: each round anew
        self.redeals = 0
        self.ply = 0
        self.discards: list[list[Tile]] = [[], []]
        self.turned_up: list[tuple[int, Tile]] = []
        self.events: list[Json] = []
        self._await_exchange()

    # What lies there

    @property
    def non_dealer(self) -> int:
        """Who may propose, and leads first."""
        return 1 - self.dealer

    @property
    def sizes(self) -> list[int]:
        """How many tiles each seat holds; a called tile has left the hand."""
        return [len(hand) for hand in self.hands]

    @property
    def trick(self) -> Json:
        """The trick that is being played."""
        led = None if self.led is None else written(self.led)
        if self.called is None:
            return {"led": led, "called": None}
        seat, tile = self.called
        return {"led": led, "called": {"seat": seat, "tile": written(tile)}}

    # What may be done

    def legal(self) -> list[int]:
        """The ids of the actions open to the seat to move, in order."""
        if self.turn is None:
            return []
        if self.phase == "exchange":
            return [PROPOSE, STAND]
        if self.phase in ("answer", "call"):
            return [ACCEPT, REJECT]
        slots = sorted(SLOTS.index(tile) for tile in self.hands[self.turn])
        if self.phase == "lead" and not self.tricks:  # A29: all but the first lead of the round
            return slots
        return slots + [CALL + slot for slot in slots]

    # What is done

    def step(self, action: int) -> Rewards:
        """Do it; what it brings each seat under either kind of reward."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal: {self.legal()}")
        seat = self.turn
        assert seat is not None
        self._hand_rewards = [0.0, 0.0]
        self.ply += 1
        if self.phase == "exchange":
            self._propose_or_stand(seat, action)
        elif self.phase == "answer":
            self._answer(seat, action)
        elif self.phase == "call":
            self._answer_call(seat, action)
        else:
            self._play(seat, action)
        return {"hand": self._hand_rewards, "match": match_rewards(self.winners, 2, 2)}

    def _log(self, kind: str, seat: int, tile: Tile | None = None) -> None:
        self.events.append(event(kind, seat, None if tile is None else written(tile)))

    def _await_exchange(self) -> None:
        """The non-dealer's decision, unless no redeal is left (A32)."""
        if self.redeals < self.options["max_redeals"]:
            self._await("exchange", self.non_dealer)
        else:
            self._begin_play()

    def _begin_play(self) -> None:
        self.dealt = [list(hand) for hand in self.hands]
        self._await("lead", self.leader)

    def _await(self, phase: str, seat: Maybe) -> None:
        self.phase = phase
        self.turn: Maybe = seat

    def _propose_or_stand(self, seat: int, action: int) -> None:
        self._log(NAMES[action], seat)
        if action == PROPOSE:
            self._await("answer", self.dealer)
        else:
            self._begin_play()

    def _answer(self, seat: int, action: int) -> None:
        self._log(NAMES[action], seat)
        if action == REJECT:
            self._begin_play()
            return
        # S2 17: all six go, the non-dealer's three come off the stock first.
        for player in (self.non_dealer, self.dealer):
            self.discards[player] += self.hands[player]
            self.hands[player] = self.stock[:3]
            del self.stock[:3]
        self.redeals += 1
        self._log("redeal", self.dealer)
        self._await_exchange()

    def _play(self, seat: int, action: int) -> None:
        tile = SLOTS[action % CALL]
        self.hands[seat].remove(tile)
        if self.opener is None:
            self.opener = seat
        if action < CALL:
            self._log("play", seat, tile)
            self._turn_up(seat, tile)
        else:
            self._log("double", seat, tile)
            self.called = (seat, tile)
            self._await("call", 1 - seat)

    def _answer_call(self, seat: int, action: int) -> None:
        assert self.called is not None
        caller, tile = self.called
        if action == REJECT:  # A30: the multiplier as it was before the call, the tile unseen
            self._log("fold", seat)
            self._end_round(caller, "fold")
            return
        self.multiplier *= 2
        self.called = None
        self._log("accept", seat)
        self._log("reveal", caller, tile)
        self._turn_up(caller, tile)

    def _turn_up(self, seat: int, tile: Tile) -> None:
        self.turned_up.append((seat, tile))
        if self.led is None:
            self.led = tile
            self._await("follow", 1 - seat)
            return
        result = trick_winner(self.led, tile)
        winner = None if result < 0 else (self.leader, seat)[result]
        self.tricks.append(winner)
        self.led = None
        self._after_trick(winner)

    def _after_trick(self, winner: Maybe) -> None:
        result = round_result(self.tricks)
        if result == "void":
            self._end_round(None, "void")
        elif isinstance(result, int):
            self._end_round(result, "tricks")
        else:  # S2 09: after a tie the same leader again
            self.leader = self.leader if winner is None else winner
            self._await("lead", self.leader)

    def _end_round(self, winner: Maybe, reason: str) -> None:
        points = 0
        if winner is not None:
            points = self.multiplier
            self.scores[winner] += points
            worth = points / self.options["target"]
            self._hand_rewards = [worth if seat == winner else -worth for seat in (0, 1)]
            if self.scores[winner] >= self.options["target"]:
                self.over, self.winners = True, [winner]
        self.hand_over = True
        self._await("over", None)
        self.last_hand = {
            "winner": winner,
            "seat": winner,
            "reason": reason,
            "effect": "match" if self.over else None,
            "points": points,
            "key": False,
            "hands": shown_hands(self.dealt),
            "board": [],
            "events": deepcopy(self.events),
            "scores": list(self.scores),
        }


def start(
    game: str = "truc",
    options: Mapping[str, Any] | None = None,
    *,
    deal: Mapping[str, Sequence[Any]],
    dealer: int,
    scores: Sequence[int] | None = None,
) -> Match:
    """A match with its first round dealt."""
    if game.removesuffix("_v0") != "truc":
        raise ValueError(f"no such game: {game}")
    check_options(TAKES, options or {})
    match = Match({**OPTIONS, **(options or {})}, list(scores or [0, 0]), dealer)
    match.deal_next(deal["hands"], deal["boneyard"])
    return match


def shown_hands(hands: Sequence[Sequence[Tile]]) -> list[list[str]]:
    """Hands as JSON, tiles in the order of their slots."""
    return [[written(tile) for tile in sorted(hand, key=SLOTS.index)] for hand in hands]


def named_action(action: int) -> Json:
    """An action as `legal` of a position shows it."""
    if action in NAMES:
        return {"id": action, "action": NAMES[action], "tile": None, "end": None}
    kind = "play" if action < CALL else "double"
    return {"id": action, "action": kind, "tile": written(SLOTS[action % CALL]), "end": None}


def position(match: Match) -> Json:
    """The whole table as JSON types, without the generator's state."""
    return {
        "game": "truc_v0",
        "rules": dict(match.options),
        "hand_number": match.hand_number,
        "phase": match.phase,
        "turn": match.turn,
        "hands": shown_hands(match.hands),
        "boneyard": [written(tile) for tile in match.stock],
        "board": [],
        "ends": match.ends,
        "locked": list(match.locked),
        "scores": list(match.scores),
        "stake": match.stake,
        "decider": match.decider,
        "passes": match.passes,
        "opener": match.opener,
        "poser": match.poser,
        "events": deepcopy(match.events),
        "legal": [named_action(action) for action in match.legal()],
        "last_hand": deepcopy(match.last_hand),
        "over": match.over,
        "winners": list(match.winners),
        "dealer": match.dealer,
        "leader": match.leader,
        "trick": match.trick,
        "tricks": list(match.tricks),
        "multiplier": match.multiplier,
        "redeals": match.redeals,
        "discards": shown_hands(match.discards),
    }


def turned_up_in(events: Sequence[Json]) -> set[str]:
    """The tiles that a round's log shows face up."""
    return {entry["tile"] for entry in events if entry["kind"] in ("play", "reveal")}


def hide_calls(events: Sequence[Json], seat: int) -> None:
    """Another's called tile is hidden until it is turned up."""
    shown = turned_up_in(events)
    for entry in events:
        if entry["kind"] == "double" and entry["seat"] != seat and entry["tile"] not in shown:
            entry["tile"] = None


def view(match: Match, seat: int) -> Json:
    """What one seat may know."""
    seen = position(match)
    hands = seen.pop("hands")
    boneyard = seen.pop("boneyard")
    seen["seat"] = seat
    seen["hand"] = hands[seat]
    seen["sizes"] = match.sizes
    seen["boneyard_size"] = len(boneyard)
    seen["discards"] = seen["discards"][seat]
    called = seen["trick"]["called"]
    if called is not None and called["seat"] != seat:
        called["tile"] = None
    hide_calls(seen["events"], seat)
    if seat != match.turn:
        seen["legal"] = []
    last = seen["last_hand"]
    if last is not None:
        shown = turned_up_in(last["events"])
        other = last["hands"][1 - seat]
        last["hands"][1 - seat] = [tile if tile in shown else None for tile in other]
        hide_calls(last["events"], seat)
    return seen

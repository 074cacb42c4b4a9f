"""The referee of the line games: block, draw, partnership, cutthroat, six_love, chiva, french.

Slow and plain on purpose, and it never deals: every hand is set up from the tiles it is told. Codes
in comments (S0 m08, A7, E24) are those of the rules document; "section 3" is its scoring table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

Tile = tuple[int, int]  # higher number first
Json = dict[str, Any]
Rewards = dict[str, list[float]]
Maybe = int | None
Word = str | None
Points = int | list[int]

FULL_SET: list[Tile] = [(high, low) for high in range(7) for low in range(high + 1)]
TILES = len(FULL_SET)

# Options that take a word or a flag; the first is the default.
CHOICES: dict[str, tuple[Any, ...]] = {
    "opening": ("formal", "informal"),
    "tie": ("reset", "void", "escalate", "double"),
    "decider": (False, True),
    "key_card": (False, True),
    "poser": ("winner", "team"),
    "draw": (False, True),
    "broken": ("all_scored", "leader_loss"),
    "bruck": ("reset", "end"),
}
# game -> default, least and most players; the same of the target; the other options.
GAMES: dict[str, tuple[tuple[int, int, int], tuple[int, int, int], str]] = {
    "block": ((2, 2, 4), (100, 1, 1000), ""),
    "draw": ((2, 2, 4), (100, 1, 1000), ""),
    "partnership": ((4, 4, 4), (6, 1, 100), "opening tie decider key_card poser"),
    "cutthroat": ((4, 2, 4), (6, 1, 100), "draw broken bruck opening tie decider key_card"),
    "six_love": ((4, 4, 4), (6, 1, 100), "bruck"),
    "chiva": ((4, 2, 4), (4, 1, 100), "opening tie decider broken"),
    "french": ((4, 4, 4), (100, 1, 1000), ""),
}


def parse(name: str) -> Tile:
    """Read a tile; 5-6 and 6-5 are the same."""
    one, other = (int(number) for number in name.split("-"))
    return max(one, other), min(one, other)


def written(tile: Tile) -> str:
    """A tile as its two numbers, in the order given."""
    return f"{tile[0]}-{tile[1]}"


def tile_id(tile: Tile) -> int:
    """0-0 is 0, 1-0 is 1, 6-6 is 27."""
    return tile[0] * (tile[0] + 1) // 2 + tile[1]


def pips(hand: Sequence[Tile]) -> int:
    """All numbers of a hand added up."""
    return sum(high + low for high, low in hand)


def check_options(takes: Mapping[str, Sequence[Any]], given: Mapping[str, Any]) -> None:
    """Refuse what the game does not take; True is no number."""
    for option, value in given.items():
        known = [(type(word), word) for word in takes.get(option, ())]
        if (type(value), value) not in known:
            raise ValueError(f"{option}={value!r}: there are {dict(takes)}")


def options_of(game: str, given: Mapping[str, Any]) -> Json:
    """All options of a game: the defaults, and over them what was asked for."""
    (players, fewest, most), (target, least, top), words = GAMES[game]
    takes: dict[str, Sequence[Any]] = {word: CHOICES[word] for word in words.split()}
    defaults = {word: choice[0] for word, choice in takes.items()}
    takes |= {"players": range(fewest, most + 1), "target": range(least, top + 1)}
    check_options(takes, given)
    return {"players": players, **defaults, "target": target, **given}


class Rules:
    """A game and its options, with what follows from them spelled out."""

    def __init__(self, game: str, given: Mapping[str, Any] | None = None) -> None:
        self.game = game.removesuffix("_v0")
        self.options = options_of(self.game, given or {})
        self.players: int = self.options["players"]
        self.target: int = self.options["target"]
        two_draw = self.options.get("draw", False)
        if two_draw and self.players != 2:
            raise ValueError("draw=True needs players=2")
        self._set_table(two_draw)
        self._set_scoring()

    def _set_table(self, two_draw: bool) -> None:
        chiva, cutthroat = self.game == "chiva", self.game == "cutthroat"
        nines = cutthroat and self.players == 3  # 27 tiles without 0-0 (S0 m14)
        fourteens = cutthroat and self.players == 2 and not two_draw
        self.each = 14 if fourteens else 9 if nines else 7
        self.tiles = [tile for tile in FULL_SET if not (nines and tile == (0, 0))]
        self.pairs = self.game == "partnership" or (chiva and self.players == 4)
        self.sides = 2 if self.pairs else self.players
        self.draws = self.game == "draw" or two_draw or (chiva and self.players < 4)
        self.french = self.game == "french"  # a cross with penalties
        self.arms = 4 if self.french else 2  # how many ends an action may name
        self.informal = self.options.get("opening") == "informal"
        self.team = self.options.get("poser") == "team"

    def _set_scoring(self) -> None:
        six_love = self.game == "six_love"
        self.to_100 = self.game in ("block", "draw")  # the winner scores the others' pips (S3)
        self.pair_totals = self.game == "chiva" and self.pairs  # on a block (S0 m16)
        self.tie: str = "double" if six_love else self.options.get("tie", "void")
        self.decider: bool = self.options.get("decider", False)
        self.key_card: bool = six_love or self.options.get("key_card", False)
        self.broken: str = self.options.get("broken", "all_scored")
        self.bruck: str = self.options.get("bruck", "reset")

    def side(self, seat: int) -> int:
        """Partners sit opposite (S0 m01)."""
        return seat % self.sides


def opening_tile(hands: Sequence[Sequence[Tile]], french: bool = False) -> Tile:
    """The tile that opens a hand by rule; with all tiles dealt that is 6-6, in French 0-0."""
    held = [tile for hand in hands for tile in hand]
    if french:
        return (0, 0)
    doubles = [tile for tile in held if tile[0] == tile[1]]
    # A12, A35: no double at all: largest sum, equal sums by the larger single number.
    return max(doubles) if doubles else max(held, key=lambda tile: (sum(tile), tile[0]))


def is_key(board: Sequence[Tile], tile: Tile, tiles: Sequence[Tile]) -> bool:
    """Whether a last tile, about to be added to the board, is the key card (S4, A18)."""
    high, low = tile
    if high == low or not board:
        return False
    lying = [(max(laid), min(laid)) for laid in board]
    both_ends = board[0][0] in tile and board[-1][1] in tile
    others = [t for t in tiles if t != tile and (high in t or low in t)]
    return both_ends and all(other in lying for other in others)


def block_winner(rules: Rules, hands: Sequence[Sequence[Tile]], opener: int) -> Maybe:
    """The seat that wins a blocked hand, or None on a tie."""
    counts = [pips(hand) for hand in hands]
    seats = range(rules.players)
    if rules.pair_totals:
        even, odd = counts[0] + counts[2], counts[1] + counts[3]
        if even == odd:
            return None
        seats = range(0, 4, 2) if even < odd else range(1, 4, 2)
    lowest = [seat for seat in seats if counts[seat] == min(counts[s] for s in seats)]
    if len({rules.side(seat) for seat in lowest}) > 1:
        return None
    # A4, A5: partners that share the lowest: who comes first, counted from the opener.
    return min(lowest, key=lambda seat: (seat - opener) % rules.players)


def french_penalty(hand: Sequence[Tile]) -> int:
    """The pips left, doubled once if there is a double among them (A25)."""
    return pips(hand) * (2 if any(high == low for high, low in hand) else 1)


def match_rewards(winners: Sequence[int], sides: int, players: int) -> list[float]:
    """What a finished match is worth to each seat; nothing without a winner."""
    if not winners:
        return [0.0] * players
    joint = len(winners)
    share = (sides - joint) / (joint * (sides - 1))
    return [share if s % sides in winners else -1 / (sides - 1) for s in range(players)]


def event(
    kind: str,
    seat: int,
    tile: str | None = None,
    end: Maybe = None,
    ends_after: list[Maybe] | None = None,
) -> Json:
    """One line of a hand's log."""
    return {"kind": kind, "seat": seat, "tile": tile, "end": end, "ends_after": ends_after}


class Match:
    """One match of a line game, a hand at a time; start() makes it, deal_next() goes on."""

    def __init__(self, rules: Rules, scores: list[int], stake: int, decider: bool) -> None:
        self.rules = rules
        self.draw_action = rules.arms * TILES
        self.pass_action = rules.arms * TILES + 1
        self.scores = scores
        self.stake = stake
        self.decider = decider
        self.next_poser: Maybe = None
        self.hand_number = 0
        self.hand_over = True
        self.over = False
        self.winners: list[int] = []
        self.last_hand: Json | None = None

    def deal_next(self, hands: Sequence[Sequence[str]], boneyard: Sequence[str] = ()) -> None:
        """Set up the next hand: tiles by seat, undealt tiles in drawing order."""
        if self.over or not self.hand_over:
            raise ValueError("no hand to deal now")
        rules = self.rules
        self.hands = [[parse(tile) for tile in hand] for hand in hands]
        self.boneyard = [parse(tile) for tile in boneyard]
        dealt = [tile for hand in self.hands for tile in hand]
        if sorted(dealt + self.boneyard) != rules.tiles:
            raise ValueError("the deal is not the set, each tile once")
        if [len(hand) for hand in self.hands] != [rules.each] * rules.players:
            raise ValueError(f"the deal is not {rules.each} tiles for each of {rules.players}")
        self.hand_number += 1
        self.hand_over = False
        self.poser = self.next_poser
        self.opener: Maybe = None
        self.board: list[Tile] = []  # from left to right, as the tiles lie
        self.cross: list[list[Tile]] = [[], [], [], []]  # French: outward, without 0-0
        self.events: list[Json] = []
        self.passes = 0
        self.lacks = [[False] * 7 for _ in range(rules.players)]
        self.lacks_double = [[False] * 7 for _ in range(rules.players)]
        self.turn: Maybe = self.poser
        if self.turn is None:
            first = opening_tile(self.hands, rules.french)
            self.turn = next(s for s, hand in enumerate(self.hands) if first in hand)

    # What lies there

    @property
    def phase(self) -> str:
        """pose, play, or over: no decision until the next hand is dealt."""
        if self.hand_over:
            return "over"
        return "pose" if self.opener is None else "play"

    @property
    def ply(self) -> int:
        """Decisions so far in this hand; passes and draws count."""
        return len(self.events)

    @property
    def sizes(self) -> list[int]:
        """How many tiles each seat holds."""
        return [len(hand) for hand in self.hands]

    @property
    def ends(self) -> list[Maybe] | None:
        """The open numbers; a French arm not begun is None, and so are all before the pose."""
        return None if self.opener is None else self._ends()

    def _ends(self) -> list[Maybe]:
        if self.rules.french:
            return [arm[-1][1] if arm else None for arm in self.cross]
        return [self.board[0][0], self.board[-1][1]]

    @property
    def locked(self) -> list[bool]:
        """French: the arms that only their double continues (S1 m06)."""
        return [len(arm) == 1 for arm in self.cross] if self.rules.french else []

    # What may be done

    def legal(self) -> list[int]:
        """The ids of the actions open to the seat to move, in order."""
        if self.turn is None:
            return []
        if self.opener is None:
            return self._poses(self.turn)
        plays = [
            end * TILES + tile_id(tile)
            for end in range(self.rules.arms)
            for tile in self.hands[self.turn]
            if self._fits(tile, end)
        ]
        if plays:
            return sorted(plays)
        if self.rules.draws and self.boneyard:
            return [self.draw_action]
        return [self.pass_action]

    def _poses(self, seat: int) -> list[int]:
        any_tile = sorted(tile_id(tile) for tile in self.hands[seat])
        if self.poser is None:
            if self.rules.informal:  # A10: in every hand that opens by rule
                return any_tile
            return [tile_id(opening_tile(self.hands, self.rules.french))]
        if self.rules.team and not self.events:  # A11: once; the partner must pose
            any_tile.append(self.pass_action)
        return any_tile

    def _fits(self, tile: Tile, end: int) -> bool:
        number = self._ends()[end]
        if not self.rules.french:
            return number in tile
        if [] in self.cross:  # phase 1: blanks only, on the next free arm (S1 m04-05)
            return end == self.cross.index([]) and 0 in tile
        if self.locked[end]:
            return tile == (number, number)
        return number in tile

    # What is done

    def step(self, action: int) -> Rewards:
        """Do it; what it brings each seat under either kind of reward."""
        if action not in self.legal():
            raise ValueError(f"action {action} is not legal: {self.legal()}")
        seat = self.turn
        assert seat is not None
        self._hand_rewards = [0.0] * self.rules.players
        if action == self.pass_action:
            self._pass(seat)
        elif action == self.draw_action:
            self._draw(seat)
        else:
            self._play(seat, FULL_SET[action % TILES], action // TILES)
        rewards = match_rewards(self.winners, self.rules.sides, self.rules.players)
        return {"hand": self._hand_rewards, "match": rewards}

    def _pass(self, seat: int) -> None:
        self.events.append(event("pass", seat))
        if self.opener is None:  # the pose is left to the partner: nothing shown, no pass counted
            self.turn = (seat + 2) % self.rules.players
            return
        self._show_lacks(seat)
        self.passes += 1
        if self.passes == self.rules.players:
            self._blocked()
        else:
            self.turn = (seat + 1) % self.rules.players

    def _draw(self, seat: int) -> None:
        tile = self.boneyard.pop(0)
        self.hands[seat].append(tile)
        self.events.append(event("draw", seat, written(tile)))
        # The drawn tile may bear any number, except that it leaves at once if it fits.
        self.lacks[seat] = [False] * 7
        self._show_lacks(seat)

    def _show_lacks(self, seat: int) -> None:
        if self.rules.french and [] in self.cross:
            self.lacks[seat][0] = True
            return
        locked = self.locked or [False, False]
        for number, only_double in zip(self._ends(), locked, strict=True):
            assert number is not None
            (self.lacks_double if only_double else self.lacks)[seat][number] = True

    def _play(self, seat: int, tile: Tile, end: int) -> None:
        key = self.rules.key_card and is_key(self.board, tile, self.rules.tiles)
        self.hands[seat].remove(tile)
        self._lay(tile, end)
        self.opener = seat if self.opener is None else self.opener
        self.passes = 0
        self.events.append(event("play", seat, written(tile), end, self._ends()))
        if self.hands[seat]:
            self.turn = (seat + 1) % self.rules.players
        else:
            self._went_out(seat, key)

    def _lay(self, tile: Tile, end: int) -> None:
        if self.opener is None:  # higher number left; the 0-0 of French is in no arm
            self.board = [] if self.rules.french else [tile]
            return
        inner = self._ends()[end] or 0  # a new arm leaves 0-0
        outer = tile[1] if tile[0] == inner else tile[0]
        if self.rules.french:
            self.cross[end].append((inner, outer))
        elif end == 0:
            self.board.insert(0, (outer, inner))
        else:
            self.board.append((inner, outer))

    # How a hand ends

    def _went_out(self, seat: int, key: bool) -> None:
        if self.rules.french:
            self._french_end("out", seat)
        elif self.rules.to_100:
            self._line_end("out", seat)
        else:
            self._count_won("out", seat, key)

    def _blocked(self) -> None:
        assert self.opener is not None
        if self.rules.french:
            self._french_end("block", None)
            return
        seat = block_winner(self.rules, self.hands, self.opener)
        if self.rules.to_100:
            self._line_end("tie" if seat is None else "block", seat)
        elif seat is None:
            self._count_tied()
        else:
            self._count_won("block", seat, False)

    def _french_end(self, reason: str, seat: Maybe) -> None:
        """Everybody adds his penalty; at the target the lowest wins, jointly if tied (A26)."""
        penalties = [french_penalty(hand) for hand in self.hands]
        self.scores = [score + add for score, add in zip(self.scores, penalties, strict=True)]
        if max(self.scores) >= self.rules.target:
            lowest = min(self.scores)
            self.over = True
            self.winners = [s for s, score in enumerate(self.scores) if score == lowest]
        mean = sum(penalties) / len(penalties)
        self._hand_rewards = [(mean - own) / self.rules.target for own in penalties]
        self._close(None, seat, reason, "match" if self.over else None, penalties, False)

    def _line_end(self, reason: str, seat: Maybe) -> None:
        """The winner scores all other hands; on a block too (A36)."""
        value = 0
        if seat is not None:
            value = sum(pips(hand) for s, hand in enumerate(self.hands) if s != seat)
            self.scores[seat] += value
            if self.scores[seat] >= self.rules.target:
                self.over, self.winners = True, [seat]
            self._pay(seat, value / self.rules.target)
        self._close(seat, seat, reason, "match" if self.over else None, value, False)

    def _count_tied(self) -> None:
        """Section 3, tied block."""
        effect = None
        if self.rules.tie == "escalate":
            self.stake += 1
        elif self.rules.tie == "double":
            self.stake = 2
        elif self.rules.tie == "reset":
            self._to_zero()
            effect = "reset"
        self.next_poser = None
        self._close(None, None, "tie", effect, 0, False)

    def _count_won(self, reason: str, seat: int, key: bool) -> None:
        """Section 3, hand won by the side of this seat."""
        side = self.rules.side(seat)
        points = max(self.stake, 2) if key else self.stake
        effect = self._count(side, seat, points)
        self._pay(side, float(points))
        self._close(side, seat, reason, effect, points, key)

    def _count(self, side: int, seat: int, points: int) -> str | None:
        if not self.decider and self._breaks(side):
            return self._break(side, points)
        if self.decider:  # A7: set to the stake, not added
            worth = self.stake
            self._to_zero()
            self.scores[side] = worth
        else:
            self.scores[side] += points
        self.stake, self.decider = 1, False
        self.next_poser = seat
        if self.scores[side] < self.rules.target:
            return None
        self.over, self.winners = True, [side]
        return "match"

    def _breaks(self, side: int) -> bool:
        others = [score > 0 for s, score in enumerate(self.scores) if s != side]
        return any(others) if self.rules.broken == "leader_loss" else all(others)

    def _break(self, side: int, points: int) -> str:
        self.next_poser = None
        result = list(self.scores)
        result[side] += points
        # A7, A8b: everyone who would have points has exactly one.
        at_one = all(score in (0, 1) for score in result)
        if self.rules.decider and self.stake == 1 and at_one:
            self.stake, self.decider = 2, True
            return "decider"
        self._to_zero()  # A2: no point for the breaker
        if self.rules.bruck == "end":
            self.over = True
            return "bruck"
        return "reset"

    def _to_zero(self) -> None:
        self.scores = [0] * self.rules.sides
        self.stake, self.decider = 1, False

    def _pay(self, side: int, worth: float) -> None:
        loss = -worth / (self.rules.sides - 1)
        sides = [self.rules.side(seat) for seat in range(self.rules.players)]
        self._hand_rewards = [worth if s == side else loss for s in sides]

    def _close(
        self, winner: Maybe, seat: Maybe, reason: str, effect: Word, points: Points, key: bool
    ) -> None:
        self.turn = None
        self.hand_over = True
        self.last_hand = {
            "winner": winner,
            "seat": seat,
            "reason": reason,
            "effect": effect,
            "points": points,
            "key": key,
            "hands": shown_hands(self.hands),
            "board": self.shown_board(),
            "events": deepcopy(self.events),
            "scores": list(self.scores),
        }

    def shown_board(self) -> list[str] | list[list[str]]:
        """The board as JSON: one list, in French four."""
        if self.rules.french:
            return [[written(tile) for tile in arm] for arm in self.cross]
        return [written(tile) for tile in self.board]

    def named_action(self, action: int) -> Json:
        """An action as `legal` of a position shows it."""
        if action in (self.draw_action, self.pass_action):
            kind = "draw" if action == self.draw_action else "pass"
            return {"id": action, "action": kind, "tile": None, "end": None}
        tile = written(FULL_SET[action % TILES])
        return {"id": action, "action": "play", "tile": tile, "end": action // TILES}


def start(
    game: str,
    options: Mapping[str, Any] | None = None,
    *,
    deal: Mapping[str, Sequence[Any]],
    opener: Maybe = None,
    scores: Sequence[int] | None = None,
    stake: Maybe = None,
    decider: bool = False,
) -> Match:
    """A match with its first hand dealt; with an opener that seat poses as a previous winner."""
    rules = Rules(game, options)
    if opener is not None and (rules.french or rules.to_100):
        raise ValueError(f"{rules.game} always opens by rule")
    worth = (2 if decider else 1) if stake is None else stake
    match = Match(rules, list(scores or [0] * rules.sides), worth, decider)
    match.next_poser = opener
    match.deal_next(deal["hands"], deal.get("boneyard", ()))
    return match


def shown_hands(hands: Sequence[Sequence[Tile]]) -> list[list[str]]:
    """Hands as JSON, tiles in the order of their ids."""
    return [[written(tile) for tile in sorted(hand, key=tile_id)] for hand in hands]


def position(match: Match) -> Json:
    """The whole table as JSON types, without the generator's state."""
    return {
        "game": f"{match.rules.game}_v0",
        "rules": dict(match.rules.options),
        "hand_number": match.hand_number,
        "phase": match.phase,
        "turn": match.turn,
        "hands": shown_hands(match.hands),
        "boneyard": [written(tile) for tile in match.boneyard],
        "board": match.shown_board(),
        "ends": match.ends,
        "locked": match.locked,
        "scores": list(match.scores),
        "stake": match.stake,
        "decider": match.decider,
        "passes": match.passes,
        "opener": match.opener,
        "poser": match.poser,
        "events": deepcopy(match.events),
        "legal": [match.named_action(action) for action in match.legal()],
        "last_hand": deepcopy(match.last_hand),
        "over": match.over,
        "winners": list(match.winners),
    }


def hide_draws(events: Sequence[Json], seat: int) -> None:
    """What the others drew is hidden."""
    for entry in events:
        if entry["kind"] == "draw" and entry["seat"] != seat:
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
    hide_draws(seen["events"], seat)
    if seat != match.turn:
        seen["legal"] = []
    if seen["last_hand"] is not None:
        hide_draws(seen["last_hand"]["events"], seat)
    return seen

"""Deals that agree with what a seat has seen: all of them, each as likely as the others."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bots.deals import STATES, make_work, prepare, sample_deal
from dominozoo.line import batch
from dominozoo.line.batch import ENDED, ILLEGAL
from dominozoo.line.game import LineGame
from dominozoo.line.position import new_log
from dominozoo.line.table import NOBODY, TABLE
from dominozoo.records import copied, seed_tables
from dominozoo.rules import VARIANTS, make_rules, pack_line, parse
from dominozoo.tiles import DOUBLES, NAMES, TILE_COUNT, mask_of, tiles_of

pytestmark = pytest.mark.once  # its kernels take minutes to compile

Array = npt.NDArray[Any]
Deal = tuple[Any, ...]

VARIED = [
    *(
        str(make_rules(name, players=players))
        for name, variant in VARIANTS.items()
        for players in variant.options["players"].values
        if variant.family == "line"
    ),
    "partnership(opening=informal)",
    "partnership(poser=team)",
    "cutthroat(players=2, draw=True)",
    "cutthroat(players=2, draw=True, opening=informal)",
    "cutthroat(players=3, opening=informal)",
    "chiva(players=2, opening=informal)",
    "chiva(players=3, opening=informal)",
]


def _weight(tile: int) -> tuple[int, int]:
    high, low = (int(number) for number in NAMES[tile].split("-"))
    return -high - low, -high


class Table:
    """One table with its packed rules and every action of the hand."""

    def __init__(self, game: str, seed: int, poser: int = NOBODY) -> None:
        self.rules = parse(game)
        self.packed = pack_line(self.rules)
        self.tables = np.zeros(1, TABLE)
        self.players, self.size = self.rules.players, int(self.packed[0]["hand_size"])
        self.deck = TILE_COUNT - int(self.packed[0]["no_blank"])
        self.actions: list[int] = []
        seed_tables(self.tables, seed, 0, 0)
        batch.start_tables(self.tables, self.packed, np.ones(1, np.bool_), np.full(1, poser))

    def legal(self) -> list[int]:
        """Ids of the legal actions."""
        row = np.zeros(int(self.packed[0]["ends"]) * TILE_COUNT + 2, np.int8)
        size = 600
        batch.look_one(
            self.tables, self.packed, int(self.tables[0]["turn"]), np.zeros(size, np.int16), row
        )
        return [int(action) for action in np.flatnonzero(row)]

    def wander(self, choose: random.Random, steps: int) -> bool:
        """Play random moves; False if the hand ended."""
        for _ in range(steps):
            action = choose.choice(self.legal())
            if not self.step(action):
                return False
        return True

    def step(self, action: int) -> bool:
        self.actions.append(action)
        log, reward = new_log(), np.zeros(self.players)
        code = int(batch.step_one(self.tables, self.packed, action, 0, 0, log, reward))
        return 0 <= code < ENDED

    def draws(self) -> list[int]:
        """The seat that made each draw, in order."""
        seats, twin = [], self.dealt_again(self.tables[0]["deck"].tolist())
        for action in self.actions:
            if action == int(self.packed[0]["ends"]) * TILE_COUNT:
                seats.append(int(twin[0]["turn"]))
            batch.apply_one(twin, self.packed, action)
        return seats

    def dealt_again(self, deck: list[int]) -> Array:
        """A table on which this deck was given out, nothing played."""
        twin = copied(self.tables)
        twin[0]["deck"][: self.deck] = deck[: self.deck]
        batch.reopen_one(twin, self.packed)
        return twin

    def agrees(self, deck: list[int]) -> bool:
        """True if the deck leads through the same events to what the seat to move sees."""
        me, twin = int(self.tables[0]["turn"]), self.dealt_again(deck)
        start = self.dealt_again(self.tables[0]["deck"].tolist())
        if any(twin[0][name] != start[0][name] for name in ("turn", "by_rule")):
            return False
        log, reward = new_log(), np.zeros(self.players)
        for action in self.actions:
            code = batch.step_one(twin, self.packed, action, 0, 0, log, reward)
            if code == ILLEGAL or code >= ENDED:
                return False
        ours = ("turn", "phase", "ply", "laid_by", "laid_at", "ends", "locked", "boneyard", "lacks")
        same = all(np.array_equal(twin[0][name], self.tables[0][name]) for name in ours)
        return same and twin[0]["hands"][me] == self.tables[0]["hands"][me]

    def known_draws(self) -> dict[int, int]:
        """Places in the boneyard of the draws of the seat to move, and the tiles."""
        me, first = int(self.tables[0]["turn"]), self.players * self.size
        deck = self.tables[0]["deck"].tolist()
        return {k: deck[first + k] for k, seat in enumerate(self.draws()) if seat == me}

    def all_deals(self) -> Iterator[Deal]:
        """Every deal that agrees, by trying all: hands dealt as masks, then the tiles drawn."""
        record = self.tables[0]
        me, draws, known = int(record["turn"]), self.draws(), self.known_draws()
        laid = [mask_of(np.flatnonzero(record["laid_by"] == seat + 1)) for seat in range(4)]
        mine = laid[me] | int(record["hands"][me])
        unseen = set(range(TILE_COUNT - self.deck, TILE_COUNT)) - set(tiles_of(mine))
        unseen -= {tile for mask in laid for tile in tiles_of(mask)}
        others = [seat for seat in range(self.players) if seat != me]
        my_deal = sorted(set(tiles_of(mine)) - set(known.values()))
        for hands in _shared(sorted(unseen), [int(record["sizes"][seat]) for seat in others]):
            owned = {s: tiles_of(laid[s] | mask_of(h)) for s, h in zip(others, hands, strict=True)}
            for drawn in _drawn(owned, draws, known):
                dealt = {seat: [t for t in owned[seat] if t not in drawn] for seat in others}
                dealt[me] = my_deal
                front = [tile for seat in range(self.players) for tile in dealt[seat]]
                rest = [tile for tile in range(28 - self.deck, 28) if tile not in {*front, *drawn}]
                if self.agrees([*front, *drawn, *rest]):
                    yield (*(mask_of(dealt[s]) for s in range(self.players)), *drawn)

    def sampled(self, count: int, seed: int = 1) -> list[Array]:
        """Tables with sampled deals."""
        work, rng = make_work(), np.array([seed, 2, 3, 4], np.uint32)
        assert prepare(self.tables[0], self.packed[0], work) > 0
        samples = []
        for _ in range(count):
            out = np.zeros(1, TABLE)
            sample_deal(self.tables[0], self.packed[0], rng, work, out[0])
            samples.append(out)
        return samples

    def weight(self) -> float:
        """How many deals agree, as the sampler counts them."""
        return float(prepare(self.tables[0], self.packed[0], make_work()))

    def deal_of(self, out: Array) -> Deal:
        """A sampled deal as `all_deals` tells of it."""
        deck = out[0]["deck"].tolist()[: self.deck]
        at = self.players * self.size
        hands = [mask_of(deck[k : k + self.size]) for k in range(0, at, self.size)]
        return (*hands, *deck[at : self.deck - int(self.tables[0]["boneyard"])])


def _shared(tiles: list[int], sizes: list[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to give out hands of these sizes; what is left stays."""
    if not sizes:
        yield ()
        return
    for hand in itertools.combinations(tiles, sizes[0]):
        left = [tile for tile in tiles if tile not in hand]
        for others in _shared(left, sizes[1:]):
            yield (hand, *others)


def _drawn(
    owned: dict[int, list[int]], draws: list[int], known: dict[int, int]
) -> Iterator[list[int]]:
    """Every order of tiles drawn, given whose they are."""
    if len(known) == len(draws):
        yield [known[k] for k in range(len(draws))]
        return
    counts = Counter(draws[k] for k in range(len(draws)) if k not in known)
    seats = sorted(counts)
    for orders in itertools.product(
        *(itertools.permutations(owned[seat], counts[seat]) for seat in seats)
    ):
        streams = {seat: iter(order) for seat, order in zip(seats, orders, strict=True)}
        yield [known[k] if k in known else next(streams[draws[k]]) for k in range(len(draws))]


def look(table: Table, fewest: int, most: int) -> bool:
    """True where the seat to move has a choice, and so many deals agree."""
    return len(table.legal()) > 1 and fewest <= table.weight() <= most


def positions(game: str, count: int, drawn: int = 0) -> Iterator[Table]:
    """Positions with a choice that can be tried out, from random play, others having drawn so often."""
    found, seed = 0, 0
    while found < count:
        seed += 1
        choose, table = random.Random(seed), Table(game, seed)
        while table.wander(choose, 1):
            me, draws = int(table.tables[0]["turn"]), table.draws()
            if len(draws) - draws.count(me) < drawn or tries(table) > 2500:
                continue
            if look(table, 6, 600):
                yield table
                found += 1
                break


def tries(table: Table) -> float:
    """How many deals `all_deals` would try."""
    record = table.tables[0]
    me, draws = int(record["turn"]), table.draws()
    left = int(record["boneyard"])
    total = math.factorial(left + sum(int(s) for k, s in enumerate(record["sizes"]) if k != me))
    total //= math.factorial(left)
    for seat in range(table.players):
        if seat == me:
            continue
        total //= math.factorial(int(record["sizes"][seat]))
        owned = int(record["sizes"][seat]) + int((record["laid_by"] == seat + 1).sum())
        total *= math.perm(owned, draws.count(seat))
    return total


def assert_even(samples: list[Deal], deals: set[Deal]) -> None:
    """Chi-square: 5 standard deviations are far beyond chance, but next to any slip."""
    counts = Counter(samples)
    assert set(counts) <= deals
    mean, free = len(samples) / len(deals), len(deals) - 1
    square = sum((counts[deal] - mean) ** 2 / mean for deal in deals)
    assert abs(square - free) < 5 * math.sqrt(2 * max(free, 1)), (square, free)


GAMES_WITH_DRAWS = [
    game for game in VARIED if pack_line(parse(game))[0]["draw"] and parse(game).players < 4
]


@pytest.mark.parametrize("game", [game for game in VARIED if game != "cutthroat(players=2)"])
def test_all_deals_that_agree_are_counted_and_equally_likely(game: str) -> None:
    for table in positions(game, 1):
        deals = set(table.all_deals())
        assert table.weight() == len(deals)
        assert_even([table.deal_of(out) for out in table.sampled(15 * len(deals))], deals)


@pytest.mark.parametrize("game", GAMES_WITH_DRAWS)
def test_tiles_that_others_drew_lie_where_they_can_have_been_drawn(game: str) -> None:
    for table in positions(game, 2, drawn=2):
        deals = set(table.all_deals())
        assert table.weight() == len(deals)
        assert_even([table.deal_of(out) for out in table.sampled(15 * len(deals))], deals)


def opened(game: str, hands: list[list[str]], opener: int | None = None) -> Table:
    """A table with these hands dealt, nothing played yet."""
    table = Table(game, 1)
    line = LineGame(table.rules, 0, 0)
    setup: dict[str, Any] = {"deal": {"hands": hands}}
    line.reset((1, 0), setup if opener is None else {**setup, "opener": opener})
    table.tables = copied(line.tables)
    return table


NO_DOUBLES = [
    ["6-5", "6-0", "5-0", "4-0", "3-0", "2-0", "1-0"],
    ["6-4", "5-1", "4-1", "3-1", "2-1", "4-2", "3-2"],
]
LOW_DOUBLES = [
    ["2-2", "6-0", "5-0", "4-0", "3-0", "2-0", "1-0"],
    ["1-1", "5-1", "4-1", "3-1", "2-1", "4-2", "3-2"],
]


def test_nobody_was_dealt_a_double_above_the_one_that_opened() -> None:
    table = opened("draw", LOW_DOUBLES)
    table.step(NAMES.index("2-2"))
    assert table.tables[0]["turn"] == 1
    # Of 21 tiles unseen and laid, 2-2 was dealt and 3-3 .. 6-6 were not.
    assert table.weight() == math.comb(20 - 4, 6)
    for out in table.sampled(50):
        assert int(out[0]["hands"][0]) & DOUBLES & ~mask_of([0, 2]) == 0


def test_without_doubles_nobody_was_dealt_one_or_a_heavier_tile() -> None:
    table = opened("block", NO_DOUBLES)
    table.step(NAMES.index("6-5"))
    assert table.weight() == math.comb(20 - 7, 6)
    table = opened("block", [["6-4", *NO_DOUBLES[0][1:]], ["5-4", *NO_DOUBLES[1][1:]]])
    table.step(NAMES.index("6-4"))
    assert table.weight() == math.comb(20 - 8, 6)  # nor 6-5


# Doubles from 6-6 on, then the others by their sum, equal ones by the larger number.
CLAIMS = sorted(range(TILE_COUNT), key=lambda t: (t not in tiles_of(DOUBLES), *_weight(t)))


def claim(hand: tuple[int, ...]) -> int:
    """Place of a hand's first claim to open."""
    return min(CLAIMS.index(tile) for tile in hand)


@pytest.mark.parametrize("hands", [LOW_DOUBLES, NO_DOUBLES])
def test_opened_informally_the_opener_had_the_first_claim(hands: list[list[str]]) -> None:
    game = "chiva(players=2, opening=informal)"
    table = opened(game, hands)
    mine = [NAMES.index(name) for name in hands[1]]
    table.step(NAMES.index("1-0"))
    unseen = [t for t in range(28) if t not in mine and NAMES[t] != "1-0"]
    found = sum(
        claim((*six, NAMES.index("1-0"))) < claim(tuple(mine))
        for six in itertools.combinations(unseen, 6)
    )
    assert table.weight() == found
    assert table.dealt_again(table.tables[0]["deck"].tolist())[0]["turn"] == 0
    assert all(table.agrees(out[0]["deck"].tolist()) for out in table.sampled(200))
    # The opener himself knows that the other has no claim above his own.
    table = opened(game, hands)
    mine = [NAMES.index(name) for name in hands[0]]
    above = claim(tuple(mine))
    assert table.weight() == math.comb(21 - above, 7)


def test_a_pose_left_to_the_partner_shows_nothing() -> None:
    table = Table("partnership(poser=team)", 3, poser=0)
    before = table.weight()
    table.step(57)
    assert table.tables[0]["turn"] == 2
    assert table.weight() == before == math.factorial(21) // math.factorial(7) ** 3
    assert table.wander(random.Random(1), 1)
    assert table.weight() == math.factorial(20) // math.factorial(7) ** 2 // math.factorial(6)


def test_the_boneyard_is_mixed() -> None:
    table = opened("draw", LOW_DOUBLES)
    table.step(NAMES.index("2-2"))
    samples, unseen = table.sampled(4200), 20
    first = Counter(int(out[0]["deck"][14]) for out in samples)
    last = Counter(int(out[0]["deck"][27]) for out in samples)
    high = [tile for tile in (9, 14, 20, 27) if tile < TILE_COUNT]  # 3-3 .. 6-6 lie there
    for counts in (first, last):
        assert all(abs(counts[tile] - 4200 / 14) < 90 for tile in high)
        assert len(counts) == unseen


def hide(table: Table, choose: random.Random) -> Table:
    """The same table with another deal that agrees; what is hidden is all that changes."""
    twin = Table(str(table.rules), 1)
    twin.actions = table.actions
    twin.tables = table.sampled(1, choose.randrange(1, 1000))[0]
    return twin


@pytest.mark.parametrize("game", VARIED)
def test_sampled_deals_replay_and_nothing_hidden_shows(game: str) -> None:
    for seed in range(2):
        choose = random.Random(seed)
        poser = NOBODY if parse(game).variant.fixed.get("always_by_rule") or seed % 2 else 1
        table = Table(game, seed, poser)
        while table.wander(choose, 1):
            if choose.random() < 0.7 or not len(table.legal()) > 1:
                continue
            assert table.agrees(table.tables[0]["deck"].tolist())
            samples, twin = table.sampled(3, seed + 1), hide(table, choose)
            assert table.weight() == twin.weight()
            for out, other in zip(samples, twin.sampled(3, seed + 1), strict=True):
                assert table.agrees(out[0]["deck"].tolist())
                assert out.tobytes() == other.tobytes()
                kept = table.dealt_again(out[0]["deck"].tolist())
                for action in table.actions:
                    batch.apply_one(kept, table.packed, action)
                for name in ("hands", "boneyard", "sizes", "lacks", "lacks_double"):
                    assert np.array_equal(kept[0][name], out[0][name])


def test_there_is_room_for_every_run_of_draws() -> None:
    def largest(total: int) -> int:
        """The largest product of sizes + 1 of runs whose sum is at most ``total``."""
        return max(
            [1, *(size * largest(total - size) for size in range(2, total + 1))],
        )

    assert 8 * largest(15) <= STATES
    assert 8 * 8 * largest(8) <= STATES

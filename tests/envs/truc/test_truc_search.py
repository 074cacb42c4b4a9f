"""Le Truc's imagined deals and the players that search by them."""

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.bots.truc_deals import make_work, prepare, sample_deal
from dominozoo.bots.truc_search import TrucOmniscient, TrucSearch
from dominozoo.rules import make_rules, pack_truc
from dominozoo.tiles import tiles_of
from dominozoo.truc import batch
from dominozoo.truc.game import TrucGame
from dominozoo.truc.play import apply
from dominozoo.truc.table import OVER, TABLE, deal_out

from .helpers import STRONG, WEAK, N, action_of, positions, shuffled, unseen

pytestmark = pytest.mark.once  # its kernels take minutes to compile

Array = npt.NDArray[Any]

RULES = make_rules("truc")
PACKED = pack_truc(RULES)


def sampled(tables: Array, count: int, packed: Array = PACKED) -> Array:
    """So many deals, by one generator."""
    work, rng, out = make_work(), np.array([1, 2, 3, 4], np.uint32), np.zeros(count, TABLE)
    prepare(tables[0], packed[0], work)
    for k in range(count):
        sample_deal(tables[0], packed[0], rng, work, out[k])
    return out


def test_each_other_hand_is_equally_likely() -> None:
    checked = 0
    for game in positions(30, seed=3, max_redeals=2):
        me = int(game.tables[0]["turn"])
        tiles = tiles_of(unseen(game.tables[0], me))
        size = int(game.tables[0]["hands"][1 - me]).bit_count()
        hands = math.comb(len(tiles), size)
        if hands > 300:
            continue
        counts = Counter(int(out["hands"][1 - me]) for out in sampled(game.tables, 20 * hands))
        assert set(counts) <= {
            sum(1 << t for t in hand) for hand in itertools.combinations(tiles, size)
        }
        square = sum((counts[hand] - 20) ** 2 / 20 for hand in counts)
        square += 20 * (hands - len(counts))
        assert abs(square - (hands - 1)) < 5 * math.sqrt(2 * max(hands - 1, 1))
        checked += 1
    assert checked > 5


def replayed(game: TrucGame, deal: Any, packed: Array) -> Any:
    """The record that a deal leads to by what was said and played in it."""
    twin = np.zeros(1, TABLE)
    twin[0] = deal
    deal_out(twin[0], packed[0])
    seen = game.tables[0]
    for _ in range(int(seen["redeals"])):
        apply(twin[0], packed[0], 56)
        apply(twin[0], packed[0], 58)
    if seen["rejected"] or (seen["proposed"] and seen["phase"] == 1):
        apply(twin[0], packed[0], 56)
        if seen["rejected"]:
            apply(twin[0], packed[0], 59)
    elif twin[0]["phase"] == 0 and seen["phase"] != 0:
        apply(twin[0], packed[0], 57)
    for k in range(int(seen["plays"])):
        apply(twin[0], packed[0], int(deal["played"][k]) + 28 * int(seen["called"][k]))
        if seen["called"][k] and not (seen["face_down"] and k == seen["plays"] - 1):
            apply(twin[0], packed[0], 58)
    return twin[0]


def test_imagined_deals_lead_to_what_was_seen() -> None:
    for game in positions(150, seed=5, max_redeals=2):
        if game.tables[0]["phase"] == OVER:
            continue
        packed = pack_truc(game.rules)
        for out in sampled(game.tables, 3, packed):
            assert sorted(out["deck"].tolist()) == list(range(28))
            again = replayed(game, out, packed)
            assert again.tobytes() == out.tobytes()
            me = int(game.tables[0]["turn"])
            twin = TrucGame(game.rules)
            twin.tables, twin.history = np.array([out]), game.history
            assert np.array_equal(game.observe(me)[0], twin.observe(me)[0])


def test_nothing_hidden_shows_in_the_deals_or_the_move() -> None:
    rng = np.random.default_rng(0)
    for game in positions(60, seed=7, max_redeals=2):
        me = int(game.tables[0]["turn"])
        if me < 0:
            continue
        other, packed = shuffled(game, me, rng), pack_truc(game.rules)
        ours, theirs = sampled(game.tables, 5, packed), sampled(other.tables, 5, packed)
        assert ours.tobytes() == theirs.tobytes()
        assert move(TrucSearch(deals=4), game.tables, packed) == move(
            TrucSearch(deals=4), other.tables, packed
        )


def move(bot: TrucSearch | TrucOmniscient, tables: Array, packed: Array = PACKED) -> int:
    """A bot's move at one table."""
    rng = np.array([[5, 6, 7, 8]], np.uint32)
    return int(bot.choose(RULES, tables, packed, rng, np.zeros(1, np.int64))[0])


def dealt(first: list[str], second: list[str], *said: str) -> Array:
    """A table with these hands, the non-dealer's first, and some moves made."""
    game = TrucGame(RULES)
    game.reset((1, 0), {"deal": {"hands": [first, second]}, "dealer": 1})
    for word in said:
        game.step(action_of(word))
    return game.tables


def test_search_accepts_with_a_won_hand_and_gives_a_lost_one_up() -> None:
    won = dealt(STRONG, WEAK, "stand", "8-4", "4-1", "8-3", "x4-0")
    assert won[0]["turn"] == N
    assert move(TrucSearch(), won) == action_of("accept")
    # One trick behind, no tile in hand beats more than 0-0: the call is refused.
    lost = dealt(WEAK, STRONG, "stand", "4-1", "8-4", "x8-3")
    assert move(TrucSearch(), lost) == action_of("reject")
    assert move(TrucSearch(aim="hand"), lost) == action_of("accept")


def test_omniscient_knows_the_tile_face_down() -> None:
    bluff = dealt(["7-5", "4-1", "6-6"], ["8-3", "3-1", "4-0"], "stand", "4-1", "8-3", "x4-0")
    honest = dealt(["7-5", "4-1", "6-6"], ["8-3", "8-4", "7-4"], "stand", "4-1", "8-3", "x8-4")
    assert TrucOmniscient.cheats
    assert not TrucSearch.cheats
    assert move(TrucOmniscient(), bluff) == action_of("accept")
    assert move(TrucOmniscient(), honest) == action_of("reject")


@pytest.mark.parametrize(
    ("options", "named"),
    [({"deals": 0}, "deals"), ({"budget": -1}, "budget"), ({"aim": "luck"}, "aim")],
)
def test_options_out_of_range_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        TrucSearch(**options)


def test_both_play_whole_matches_by_their_generators_alone() -> None:
    bots = (TrucSearch(deals=2), TrucOmniscient())
    records = []
    for _ in range(2):
        game, rng = TrucGame(make_rules("truc", target=5)), np.array([[1, 2, 3, 4]], np.uint32)
        packed, turn = pack_truc(game.rules), game.reset((3, 0), {})
        while True:
            where = np.zeros(1, np.int64)
            action = int(bots[turn].choose(game.rules, game.tables, packed, rng, where)[0])
            turn = game.step(action)
            if turn >= batch.ENDED:
                if game.tables[0]["phase"] == OVER:
                    break
                turn = game.deal()
        records.append(game.tables.tobytes())
    assert records[0] == records[1]

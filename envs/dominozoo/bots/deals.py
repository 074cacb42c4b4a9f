"""Deals that agree with everything that the seat to move has seen, each with the same chance.

The tiles that a seat doesn't see lie in groups: what each other seat was dealt, what it drew while
nothing fitted, what is left to draw. A tile may lie in a group unless it fitted when the group's
owner was stuck, or would have opened the hand. What others chose among legal moves tells nothing,
so all deals that agree are as likely as each other. They are counted tile by tile, by how many
places each group has left; a deal is drawn from those numbers, without rejection.

Everything is read from what lies open and from the seat's own tiles. Compiled:

    work = make_work()
    prepare(t, rules, work)  # once a decision
    sample_deal(t, rules, rng, work, out)  # as often as wanted
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic

from dominozoo.bits import LANES, bits, copy_bytes, lowest
from dominozoo.bots.heuristic import roll
from dominozoo.compiler import njit
from dominozoo.line.play import TAKES, arms_begun, extend, fits, next_seat, pose
from dominozoo.line.table import NOBODY, POSE, deck_size
from dominozoo.tiles import ALL_TILES, HIGH, LOW, NUMBERS, PIPS, TILE_COUNT

_config: Any = config
_tools: Any = cgutils

# Groups: by seat what it was dealt, then what is left to draw, then a run of draws each.
BONEYARD: Final = 4
FIRST_RUN: Final = 5
# A run with a group has two draws at least, or is the last: of 14 draws 7 runs, and one more.
GROUPS: Final = FIRST_RUN + 8
# Places left, over all groups but the largest: two seats have 8 times the product of sizes + 1 of
# runs whose sum is at most 15, so 8 * 3**5; three have 8 * 8 * 18, four 8 * 8.
STATES: Final = 2048
ROWS: Final = TILE_COUNT - 7 + 1  # a seat sees seven tiles at least

# Tiles in the order in which they claim the opening: doubles from the highest on, then by weight.
ORDER: Final[npt.NDArray[np.int64]] = np.array(
    sorted(range(TILE_COUNT), key=lambda t: (HIGH[t] != LOW[t], -PIPS[t] * NUMBERS - HIGH[t])),
    np.int64,
)
PLACE: Final[npt.NDArray[np.int64]] = np.argsort(ORDER).astype(np.int64)
# The tiles that would have opened in a tile's stead.
ABOVE: Final[npt.NDArray[np.int64]] = np.array(
    [sum(1 << int(other) for other in ORDER[: PLACE[t]]) for t in range(TILE_COUNT)], np.int64
)
TOP: Final = int(ORDER[0])

WORK: Final = np.dtype(
    (
        np.record,
        [
            # The table while its events are gone through, as `line.play` reads it.
            ("ends", np.int64, 4),
            ("locked", np.int64),
            ("phase", np.int64),
            ("turn", np.int64),
            ("opener", np.int64),
            ("boneyard", np.int64),
            ("laid", np.int64),
            ("at_ply", np.int64, 256),  # tile laid then, -1 = none
            ("run", np.int64),  # group of the draws going on, -1 = none
            ("pending", np.int64),  # place in the deck of the last draw, -1 = it has its group
            # What is known.
            ("unseen", np.int64),
            ("laid_of", np.int64, 4),  # all tiles that a seat has laid
            ("mine", np.int64),  # what the seat to move was dealt
            ("hands", np.int64, 4),
            ("deck", np.uint8, 28),
            ("known", np.int64),  # tiles that have their place in the deck
            # The groups.
            ("groups", np.int64),
            ("owner", np.int64, GROUPS),
            ("allowed", np.int64, GROUPS),
            ("start", np.int64, GROUPS),  # place in the deck
            ("size", np.int64, GROUPS),
            ("left", np.int64, GROUPS),  # places not yet filled
            ("at", np.int64, GROUPS),
            ("stride", np.int64, GROUPS),
            # The tiles to place, in ORDER, and the groups that may take each, as a mask.
            ("count", np.int64),
            ("tiles", np.int64, ROWS),
            ("options", np.int64, ROWS),
            # Opened by rule with any tile: until the opener has a tile that claims the opening,
            # these groups alone may take one, and he has it among the first `limit` tiles.
            ("early", np.int64),
            ("limit", np.int64),
            # The numbers of deals, by what is still to be placed.
            ("states", np.int64),
            ("rest", np.int64),  # the group that has no part in a state: it takes what is left
            ("ways", np.float64, 2 * ROWS * STATES),
        ],
    )
)


def make_work() -> npt.NDArray[np.void]:
    """Room for :func:`prepare` and :func:`sample_deal`: an array (1,), one a thread."""
    return np.zeros(1, WORK)


def _copy_record_code(typing_context: Any, out: Any, source: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        size = context.get_constant(types.intp, source.size)
        _tools.raw_memcpy(builder, args[0], args[1], size, 1)
        return context.get_dummy_value()

    return types.none(out, source), generate


def _plain_copy_record(out: Any, source: Any) -> None:
    for name in source.dtype.names:
        out[name] = source[name]


_intrinsic: Any = intrinsic
# Make a record equal to another of its type.
copy_record: Final[Any] = (
    _plain_copy_record if _config.DISABLE_JIT else _intrinsic(_copy_record_code)
)


@njit(cache=True)
def prepare(t: Any, rules: Any, work: Any) -> Any:
    """Count the deals that agree with what the seat to move has seen.

    Args:
        t: a table record that isn't over.
        rules: the packed rules.
        work: from :func:`make_work`; made ready for :func:`sample_deal`.

    Returns:
        How many there are, counting hands as sets and draws by their order, those still to come
        left out; float64, 0 only for a table that no game leads to.
    """
    w = work[0]
    begin(t, rules, w)
    for ply in range(1, np.int64(t.ply) + 1):
        tile = w.at_ply[ply]
        if tile >= 0:
            see_play(t, rules, w, tile)
        elif w.phase != POSE:  # a pose left to the partner shows nothing
            see_stuck(t, rules, w)
    place_own(t, rules, w)
    mind_opening(t, rules, w)
    sort_tiles(t, w)
    return count_ways(w) * orders(w)


@njit(cache=True)
def begin(t: Any, rules: Any, w: Any) -> None:
    """Clear the work, and note what lies open and what each seat was dealt."""
    me, size = np.int64(t.turn), rules.hand_size
    w.phase, w.turn, w.locked, w.laid = POSE, np.int64(t.opener), 0, 0
    w.boneyard = deck_size(rules) - rules.players * size
    w.run, w.pending, w.known, w.groups = -1, -1, 0, FIRST_RUN
    w.unseen = ALL_TILES & ~(np.int64(t.laid) | np.int64(t.hands[me]) | rules.no_blank)
    for ply in range(np.int64(t.ply) + 1):
        w.at_ply[ply] = -1
    for seat in range(4):
        w.ends[seat] = 0
        w.laid_of[seat] = 0
        w.hands[seat] = 0
    for tile in range(TILE_COUNT):
        if t.laid_by[tile] != 0:
            w.at_ply[t.laid_at[tile]] = tile
            w.laid_of[t.laid_by[tile] - 1] |= np.int64(1) << tile
    w.hands[me] = np.int64(t.hands[me])
    w.mine = w.hands[me] | w.laid_of[me]
    for seat in range(4):
        other = seat < rules.players and seat != me
        new_group(w, seat, seat, w.unseen | w.laid_of[seat], seat * size, size if other else 0)
    new_group(w, BONEYARD, NOBODY, w.unseen, 0, 0)


@njit(cache=True)
def new_group(w: Any, group: Any, owner: Any, allowed: Any, start: Any, size: Any) -> None:
    """Write a group of ``size`` places of the deck from ``start`` on."""
    w.owner[group] = owner
    w.allowed[group] = allowed
    w.start[group] = start
    w.size[group] = size


@njit(cache=True)
def see_play(t: Any, rules: Any, w: Any, tile: Any) -> None:
    """A tile is laid; right after a draw it is the one drawn."""
    bit = np.int64(1) << tile
    if w.pending >= 0:
        w.deck[w.pending] = tile
        w.known |= bit
    w.pending, w.run = -1, -1
    if w.phase == POSE:
        pose(w, rules, tile)
    else:
        extend(w, rules, tile, np.int64(t.laid_end[tile]))
    w.laid |= bit
    w.turn = next_seat(w, rules)


@njit(cache=True)
def see_stuck(t: Any, rules: Any, w: Any) -> None:
    """The seat to move had nothing that fitted: it draws, or passes if nothing is left."""
    other = w.turn != t.turn
    if other:
        if w.pending >= 0:
            keep_drawn(w)
        closed = ~(taken_now(w, rules) & ~w.laid)
        for group in range(w.groups):
            if w.owner[group] == w.turn:
                w.allowed[group] &= closed
    if rules.draw == 0 or w.boneyard == 0:
        w.run = -1
        w.turn = next_seat(w, rules)
        return
    place = deck_size(rules) - w.boneyard
    w.boneyard -= 1
    if other:
        w.pending = place
    else:
        bit = np.int64(1) << np.int64(t.deck[place])
        w.deck[place] = t.deck[place]
        w.mine &= ~bit


@njit(cache=True)
def keep_drawn(w: Any) -> None:
    """The last tile drawn didn't fit: it joins the others of its run."""
    if w.run < 0:
        w.run = w.groups
        w.groups += 1
        allowed = (w.unseen | w.laid_of[w.turn]) & ~w.laid
        new_group(w, w.run, w.turn, allowed, w.pending, 0)
    w.size[w.run] += 1
    w.pending = -1


@njit(cache=True)
def taken_now(w: Any, rules: Any) -> Any:
    """Mask of all tiles that some end takes."""
    if rules.cross and arms_begun(w) < 4:
        return TAKES[1]
    tiles = np.int64(0)
    for end in range(rules.ends):
        tiles |= fits(w, end)
    return tiles


@njit(cache=True)
def place_own(t: Any, rules: Any, w: Any) -> None:
    """Give the seat to move what it was dealt, and the boneyard its places."""
    place, rest = np.int64(t.turn) * rules.hand_size, w.mine
    while rest != 0:
        w.deck[place] = lowest(rest)
        rest &= rest - 1
        place += 1
    w.start[BONEYARD] = deck_size(rules) - w.boneyard
    w.size[BONEYARD] = w.boneyard


@njit(cache=True)
def mind_opening(t: Any, rules: Any, w: Any) -> None:
    """Nobody was dealt a tile that would have opened in the stead of the one that did."""
    w.early, w.limit = 0, 0
    if t.by_rule == 0 or rules.cross != 0:
        return
    me = np.int64(t.turn)
    opener = me if t.phase == POSE else np.int64(t.opener)
    top = np.int64(t.opening)
    if rules.informal != 0:
        top = first_claim(w.mine)
        if opener != me:
            opened_by_another(rules, w, opener, top)
            return
    for seat in range(rules.players):
        w.allowed[seat] &= ~ABOVE[top]


@njit(cache=True)
def first_claim(tiles: Any) -> Any:
    """The tile of a mask that claims the opening before the others."""
    place = 0
    while tiles >> ORDER[place] & 1 == 0:
        place += 1
    return ORDER[place]


@njit(cache=True)
def opened_by_another(rules: Any, w: Any, opener: Any, top: Any) -> None:
    """Another seat holds the first claim, which may be any tile above ``top``, one's own first."""
    if deck_size(rules) == rules.players * rules.hand_size:  # all dealt: it is 6-6
        for seat in range(rules.players):
            if seat != opener:
                w.allowed[seat] &= ~(np.int64(1) << TOP)
        return
    w.limit = PLACE[top]
    w.early = np.int64(1) << opener
    for group in range(BONEYARD, w.groups):
        w.early |= np.int64(1) << group


@njit(cache=True)
def sort_tiles(t: Any, w: Any) -> None:
    """Place the tiles that have one group only; list the others with the groups they may be in."""
    me, before = np.int64(t.turn), np.int64(0)
    for group in range(w.groups):
        w.left[group] = w.size[group]
    wanted = w.unseen & ~w.known
    for seat in range(4):
        if seat != me:
            wanted |= w.laid_of[seat] & ~w.known
    w.count = 0
    for k in range(TILE_COUNT):
        tile = ORDER[k]
        if wanted >> tile & 1 == 0:
            continue
        options = np.int64(0)
        for group in range(w.groups):
            if w.size[group] > 0 and w.allowed[group] >> tile & 1:
                options |= np.int64(1) << group
        if w.early == 0 and bits(options) == 1:
            fix(w, lowest(options), tile)
            continue
        w.tiles[w.count] = tile
        w.options[w.count] = options
        w.count += 1
        if k < w.limit:
            before = w.count
    w.limit = before


@njit(cache=True)
def fix(w: Any, group: Any, tile: Any) -> None:
    """Put a tile into the only group that can have it."""
    w.left[group] -= 1
    if w.left[group] >= 0:  # else no deal agrees; `count_ways` says so
        w.deck[w.start[group] + w.left[group]] = tile
    if w.owner[group] >= 0 and w.unseen >> tile & 1:
        w.hands[w.owner[group]] |= np.int64(1) << tile


@njit(cache=True)
def set_strides(w: Any) -> Any:
    """Number the states: places left in each group but the largest; False if no deal agrees."""
    w.rest = 0
    total = np.int64(0)
    for group in range(w.groups):
        if w.left[group] < 0:
            return False
        total += w.left[group]
        w.stride[group] = 0
        if w.left[group] > w.left[w.rest]:
            w.rest = group
    w.states = 1
    for group in range(w.groups):
        if group != w.rest and w.left[group] > 0:
            w.stride[group] = w.states
            w.states *= w.left[group] + 1
    return total == w.count and w.states <= STATES


@njit(cache=True)
def count_ways(w: Any) -> Any:
    """For each row of tiles still to place and each state the number of ways; returns all.

    The first ``count + 1`` rows hold without the opening in mind, as many behind them until the
    opener has its claim.
    """
    if not set_strides(w):
        w.count, w.states = 0, 1
        return 0.0
    count, states = w.count, w.states
    ways = w.ways
    for k in range(states):
        ways[count * states + k] = 0.0
    ways[count * states] = 1.0
    for i in range(count - 1, -1, -1):
        for k in range(states):
            ways[i * states + k] = 0.0
        rest = w.options[i]
        while rest != 0:
            add_ways(w, i * states, (i + 1) * states, lowest(rest))
            rest &= rest - 1
    if w.early == 0:
        return ways[states - 1]
    count_early(w)
    return ways[(count + 2) * states - 1]


@njit(cache=True)
def count_early(w: Any) -> None:
    """The rows for an opener who hasn't got its claim: the first ``limit`` tiles may bring it."""
    states, ways = w.states, w.ways
    opener = lowest(w.early)
    behind = (w.count + 1) * states
    for k in range(states):
        ways[behind + w.limit * states + k] = 0.0
    for i in range(w.limit - 1, -1, -1):
        for k in range(states):
            ways[behind + i * states + k] = 0.0
        rest = w.options[i] & w.early
        while rest != 0:
            group = lowest(rest)
            rest &= rest - 1
            after = (i + 1) * states if group == opener else behind + (i + 1) * states
            add_ways(w, behind + i * states, after, group)


@njit(cache=True)
def add_ways(w: Any, row: Any, after: Any, group: Any) -> None:
    """Add to a row of states the ways that put its tile into ``group``."""
    ways, states, stride = w.ways, w.states, w.stride[group]
    if group == w.rest:
        for k in range(states):
            ways[row + k] += ways[after + k]
        return
    if stride == 0:  # no place left
        return
    block = stride * (w.left[group] + 1)
    for first in range(0, states, block):
        for k in range(first + stride, first + block):
            ways[row + k] += ways[after + k - stride]


@njit(cache=True)
def orders(w: Any) -> Any:
    """In how many orders the tiles of the runs can have been drawn."""
    number = 1.0
    for group in range(FIRST_RUN, w.groups):
        for k in range(2, w.size[group] + 1):
            number *= k
    return number


@njit(cache=True)
def pick(w: Any, row: Any, after: Any, late: Any, state: Any, options: Any, rng: Any) -> Any:
    """The group that a tile goes to, by the numbers of ways; (group, state after it).

    ``after`` is the next row; of the opener's tile that makes the opening late, ``late``.
    """
    ways = w.ways
    bound = ways[row + state]
    if bits(options) > 1:
        bound *= roll(rng, 1 << 30) / np.float64(1 << 30)
    opener = lowest(w.early)
    chosen, left = np.int64(-1), state
    while options != 0:
        group = lowest(options)
        options &= options - 1
        below = state - w.stride[group]
        if group != w.rest and not has_place(w, group, state):
            continue
        count = ways[(late if group == opener else after) + below]
        if count > 0.0:
            chosen, left = group, below
            bound -= count
            if bound < 0.0:
                break
    return chosen, left


@njit(cache=True)
def has_place(w: Any, group: Any, state: Any) -> Any:
    """True if a state leaves a group a place."""
    stride = w.stride[group]
    return stride > 0 and state // stride % (w.left[group] + 1) > 0


@njit(cache=True)
def sample_deal(t: Any, rules: Any, rng: Any, work: Any, out: Any) -> None:
    """Write into ``out`` the table with one deal drawn at random from those that agree.

    Args:
        t: the table record that ``work`` was prepared for.
        rules: the packed rules.
        rng: uint32 (4,), the generator drawn from; moves on.
        work: after :func:`prepare`, which found a deal.
        out: a record of the table's type; gets ``t`` with other hands of the other seats and
            another ``deck``: what each seat was dealt, then the boneyard in its drawing order.
    """
    w = work[0]
    copy_record(out, t)
    for part in (0, TILE_COUNT - LANES):  # two pieces of 16 tiles that overlap
        copy_bytes(out.deck, part, w.deck, part)
    for seat in range(4):
        out.hands[seat] = w.hands[seat]
    for group in range(w.groups):
        w.at[group] = w.start[group] + w.left[group]
    states, state = w.states, w.states - 1
    behind = 0 if w.early == 0 else (w.count + 1) * states
    opener = lowest(w.early)
    for i in range(w.count):
        options = w.options[i] if behind == 0 else w.options[i] & w.early
        late = (i + 1) * states
        group, state = pick(w, behind + i * states, behind + late, late, state, options, rng)
        if group == opener:
            behind = 0
        w.at[group] -= 1
        out.deck[w.at[group]] = w.tiles[i]
        if w.owner[group] >= 0:
            out.hands[w.owner[group]] |= (np.int64(1) << w.tiles[i]) & w.unseen
    for group in range(BONEYARD, w.groups):
        mix(out.deck, w.start[group], w.size[group], rng)


@njit(cache=True)
def mix(deck: Any, start: Any, size: Any, rng: Any) -> None:
    """Put ``size`` tiles of a deck from ``start`` on into random order."""
    for k in range(size - 1, 0, -1):
        j = roll(rng, k + 1)
        swap = deck[start + k]
        deck[start + k] = deck[start + j]
        deck[start + j] = swap

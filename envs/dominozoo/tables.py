"""Many tables of one game, stepped side by side by one compiled call.

>>> from dominozoo.tables import Tables
>>> tables = Tables("block", 4, seed=1)
>>> first_legal = tables.mask.argmax(axis=1)
>>> tables.step(first_legal)
>>> tables.observation.shape, tables.mask.shape, tables.turn.shape
((4, 178), (4, 58), (4,))

A learner's rollout needs no copies: each step writes straight into the row that it is given, here
as one-hot float32 that a network can read. Torch tensors on the CPU do as well as NumPy arrays.

>>> import numpy as np
>>> steps, count = 8, 4
>>> seen = np.zeros((steps + 1, count, tables.layout.columns), np.float32)
>>> masks = np.zeros((steps + 1, count, tables.num_actions), np.int8)
>>> tables = Tables("block", count, seed=1, one_hot=True, observation=seen[0], mask=masks[0])
>>> for t in range(steps):
...     tables.step(masks[t].argmax(axis=1), observation=seen[t + 1], mask=masks[t + 1])
>>> bool((seen.sum(axis=2) > 0).all())
True
>>> tables.refresh(observation=seen[0], mask=masks[0])  # the next rollout goes on from here
"""

from __future__ import annotations

import copy
import difflib
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Final, NamedTuple, Unpack

import numpy as np
import numpy.typing as npt

from dominozoo.buffers import Buffers, Views, as_buffer, refuse_overlaps
from dominozoo.crew import Crew, check_threads, useful_threads
from dominozoo.fields import LINE_LAYOUT, TRUC_LAYOUT, Layout
from dominozoo.line import batch as line_batch
from dominozoo.line import shared as line_shared
from dominozoo.line.table import NOBODY
from dominozoo.line.table import TABLE as LINE_TABLE
from dominozoo.records import seed_tables
from dominozoo.rules import LINE, TRUC, Rules, pack_line, pack_truc, parse
from dominozoo.tiles import TILE_COUNT
from dominozoo.truc import batch as truc_batch
from dominozoo.truc import shared as truc_shared
from dominozoo.truc.play import ACTIONS as TRUC_ACTIONS
from dominozoo.truc.table import TABLE as TRUC_TABLE

REWARDS: Final = ("hand", "match")
VIEWS: Final = ("observation", "mask", "turn")
RESULTS: Final = ("reward", "hands_ended", "terminated", "truncated", "forced")
ARGUMENTS: Final = (
    *("num_tables", "seed", "first_table", "reward", "max_hands"),
    *("auto_forced", "checked", "one_hot", "threads"),
)
_ARRAYS: Final = attrgetter(*VIEWS, *RESULTS)  # in the order of the kernels


class Family(NamedTuple):
    """What a family of games is played with.

    Attributes:
        batch: the module of compiled entry points; the same names in every family.
        share_steps: a step that threads share.
        table: dtype of a table.
        pack: makes the record of the rules that the kernels read.
        layout: of the observation.
        num_actions: size of a game's action space.
    """

    batch: Any
    share_steps: Any
    table: np.dtype[np.void]
    pack: Callable[[Rules], npt.NDArray[np.void]]
    layout: Layout
    num_actions: Callable[[Rules], int]


def _line_actions(rules: Rules) -> int:
    return (4 if rules.value("cross", False) else 2) * TILE_COUNT + 2


FAMILIES: Final[dict[str, Family]] = {
    LINE: Family(
        line_batch, line_shared.share_steps, LINE_TABLE, pack_line, LINE_LAYOUT, _line_actions
    ),
    TRUC: Family(
        truc_batch,
        truc_shared.share_steps,
        TRUC_TABLE,
        pack_truc,
        TRUC_LAYOUT,
        lambda rules: TRUC_ACTIONS,
    ),
}


def split_seed(seed: int) -> tuple[int, int]:
    """Return the low and high 32 bits of a seed of up to 64 bits.

    Raises:
        ValueError: if the seed is negative, too large or no integer.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise ValueError(f"seed must be an integer, not {seed!r}")
    if not 0 <= int(seed) < 1 << 64:
        raise ValueError(f"seed must lie in 0..2**64-1, not {seed}")
    return int(seed) & 0xFFFFFFFF, int(seed) >> 32


def fresh_seed() -> int:
    """Return 64 bits of entropy from the system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def check_reward(reward: str, max_hands: int | None) -> tuple[int, int]:
    """Return (max_hands or 0, 1 for "match") as the kernels take them.

    Raises:
        ValueError: if ``reward`` is neither "hand" nor "match", or ``max_hands`` below 1.
    """
    if not isinstance(reward, str) or reward not in REWARDS:
        found = repr(reward) if np.isscalar(reward) or reward is None else type(reward).__name__
        raise ValueError(f"reward must be one of {', '.join(REWARDS)}, not {found}")
    whole = isinstance(max_hands, int | np.integer) and not isinstance(max_hands, bool)
    if max_hands is not None and not (whole and max_hands >= 1):
        raise ValueError(f"max_hands must be None or an integer of at least 1, not {max_hands!r}")
    return int(max_hands or 0), int(reward == "match")


def _flag(name: str, value: Any) -> bool:
    """A truth value; ValueError for what only looks like one."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def _unknown_argument(name: str, value: Any, rules: Rules) -> str:
    """What to write in place of an argument that ``Tables`` hasn't."""
    if name in rules.variant.options:
        return (
            f"unexpected argument {name!r}: options stand in the game's text form, "
            f"'{rules.game}({name}={value})'"
        )
    if name in RESULTS:
        return f"unexpected argument {name!r}: give it to step(); here are {', '.join(VIEWS)}"
    near = difflib.get_close_matches(name, [*ARGUMENTS, *VIEWS], n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"unexpected argument {name!r}{hint}; arrays are {', '.join(VIEWS)}"


class Tables:
    """B tables of one game in lockstep: one action a table a step, new hands dealt at once.

    A table whose match ends starts a new one in the same step, so there is always a seat to move
    and a legal action. Seats act in the game's order; read ``turn`` for whose action is wanted.
    The arrays below are written in place by each step; copy what must be kept, or let the steps
    write into your own memory: each array can be given by name in every step; observation, mask
    and turn also when the tables are made. Give NumPy arrays, or what shares memory with NumPy as
    torch tensors on the CPU do, C-ordered, of the dtype and shape below. The attribute is then
    that memory as a NumPy array, until another is given.

    Attributes:
        rules: the game.
        records: the tables, structured array (B,) of dtype ``dominozoo.line.table.TABLE``, in Le
            Truc ``dominozoo.truc.table.TABLE``.
        layout: the observation's fields; ``size`` entries, or ``columns`` in the one-hot form.
        observation: of the seat to move, int16 (B, layout.size); with ``one_hot`` float32
            (B, layout.columns), as ``layout.expand`` makes it.
        mask: int8 (B, actions), 1 = legal; never all zeros.
        turn: int8 (B,), seat to move, 0..players-1.
        reward: float32 (B, players), of the last step, by seat; zero-sum.
        hands_ended: int32 (B,), hands that ended in the last step.
        terminated: bool (B,), the episode ended in the last step (the match, or ``max_hands``).
        truncated: bool (B,), ended by ``max_hands`` with ``reward="match"``.
        forced: int32 (B,), moves that ``auto_forced`` played in the last step.
    """

    observation: npt.NDArray[Any]
    mask: npt.NDArray[np.int8]
    turn: npt.NDArray[np.int8]
    reward: npt.NDArray[np.float32]
    hands_ended: npt.NDArray[np.int32]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    forced: npt.NDArray[np.int32]

    def __init__(
        self,
        game: str | Rules,
        num_tables: int,
        *,
        seed: int | None = None,
        first_table: int = 0,
        reward: str = "hand",
        max_hands: int | None = None,
        auto_forced: bool = False,
        checked: bool = True,
        one_hot: bool = False,
        threads: int = 1,
        **into: Unpack[Views],
    ) -> None:
        """Set the tables up and deal.

        Args:
            game: text form such as "draw(players=3)", or rules.
            num_tables: B, at least 1.
            seed: 0..2**64-1; None takes fresh entropy.
            first_table: number of the first table; table k of seed s always deals the same hands.
            reward: "hand" or "match".
            max_hands: end an episode after this many hands.
            auto_forced: play moves without a choice inside the step.
            checked: refuse illegal actions; False leaves them to the caller's risk.
            one_hot: write observations in the one-hot form, float32.
            threads: how many share the work, at least 1; the results don't depend on it. Few
                tables are left to fewer threads.
            into: arrays to write observation, mask and turn into, by name.

        Raises:
            RulesError: unknown game or option.
            ValueError: any other argument out of range, an array that doesn't fit.
        """
        if not isinstance(game, str | Rules):
            raise ValueError(f"game must be a text form like 'block', or rules, not {game!r}")
        self.rules = parse(game) if isinstance(game, str) else game
        if isinstance(num_tables, bool) or not isinstance(num_tables, int | np.integer):
            raise ValueError(f"num_tables must be an integer, not {num_tables!r}")
        if num_tables < 1:
            raise ValueError(f"num_tables must be at least 1, not {num_tables}")
        unknown = [name for name in into if name not in VIEWS]
        if unknown:
            raise TypeError(_unknown_argument(unknown[0], into[unknown[0]], self.rules))  # type: ignore[literal-required]
        self._max_hands, self._by_match = check_reward(reward, max_hands)
        self.auto_forced = _flag("auto_forced", auto_forced)
        self.checked = _flag("checked", checked)
        self._family = self.rules.variant.family
        family = FAMILIES[self._family]
        self.packed = family.pack(self.rules)
        self.num_actions = family.num_actions(self.rules)
        self.layout = family.layout
        self.one_hot = _flag("one_hot", one_hot)
        self.records = np.zeros(int(num_tables), family.table)
        self._threads = check_threads(threads)
        self._crew = Crew(useful_threads(len(self), self._threads))
        self._specs = self._array_specs()
        self._likes = [self._like_shared() for _ in range(1, self._crew.size)]
        given = self._as_buffers(into, VIEWS)
        for name, (dtype, shape) in self._specs.items():
            setattr(self, name, given[name] if name in given else np.zeros(shape, dtype))
        if not isinstance(first_table, int | np.integer) or not (
            0 <= int(first_table) <= (1 << 32) - int(num_tables)
        ):
            raise ValueError(f"first_table must lie in 0..2**32 - num_tables, not {first_table!r}")
        self.first_table = int(first_table)
        self.reset(fresh_seed() if seed is None else seed)

    @property
    def _batch(self) -> Any:
        """The family's kernels; a module can't be copied, so the tables don't hold it."""
        return FAMILIES[self._family].batch

    def __len__(self) -> int:
        return int(self.records.shape[0])

    @property
    def threads(self) -> int:
        """How many threads share the work where that pays."""
        return self._threads

    def _array_specs(self) -> dict[str, tuple[np.dtype[Any], tuple[int, ...]]]:
        """Dtype and shape of each array that a step writes."""
        b, row = len(self), self.layout.columns if self.one_hot else self.layout.size
        specs: dict[str, tuple[Any, tuple[int, ...]]] = {
            "observation": (np.float32 if self.one_hot else np.int16, (b, row)),
            "mask": (np.int8, (b, self.num_actions)),
            "turn": (np.int8, (b,)),
            "reward": (np.float32, (b, self.rules.players)),
            "hands_ended": (np.int32, (b,)),
            "terminated": (np.bool_, (b,)),
            "truncated": (np.bool_, (b,)),
            "forced": (np.int32, (b,)),
        }
        return {name: (np.dtype(dtype), shape) for name, (dtype, shape) in specs.items()}

    def _as_buffers(self, into: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        """The given arrays as NumPy arrays, if each may be written into."""
        unknown = [name for name in into if name not in names]
        if unknown:
            raise TypeError(f"unexpected argument {unknown[0]!r}; arrays are {', '.join(names)}")
        given = {name: as_buffer(name, array, *self._specs[name]) for name, array in into.items()}
        held = vars(self)  # the large ones; all would take a fifth of a step's time
        refuse_overlaps(given, {name: held[name] for name in VIEWS[:2] if name in held})
        return given

    def reset(
        self,
        seed: int | None = None,
        *,
        where: npt.ArrayLike | None = None,
        posers: npt.ArrayLike | None = None,
    ) -> None:
        """Start new matches.

        Args:
            seed: restarts the streams of all tables; None goes on with them.
            where: bool (B,), the tables to reset; None resets all.
            posers: int (B,) or one integer: the seat that poses the first hand freely, in Le Truc
                the first dealer; -1 = the hand opens by rule, the dealer is drawn (the default).

        Raises:
            ValueError: seed with ``where``, shapes that don't fit, a poser that isn't a seat, or a
                poser in a game that always opens by rule.
        """
        b = len(self)
        if seed is not None:
            if where is not None:
                raise ValueError("reset takes a seed for all tables only: leave out where")
            low, high = split_seed(seed)
            seed_tables(self.records, low, high, self.first_table)
        chosen = np.ones(b, np.bool_) if where is None else np.asarray(where)
        if chosen.shape != (b,) or chosen.dtype != np.bool_:
            raise ValueError(f"where must be a bool array of shape ({b},)")
        seats = np.full(b, NOBODY, np.int64)
        if posers is not None:
            given = np.asarray(posers)
            if given.dtype.kind not in "iu" or given.shape not in ((), (b,)):
                raise ValueError(
                    f"posers must be one integer or integers of shape ({b},), "
                    f"not {given.dtype} of shape {given.shape}"
                )
            seats[:] = given
        if seats.min() < NOBODY or seats.max() >= self.rules.players:
            raise ValueError(f"posers must be -1 or a seat below {self.rules.players}")
        if self.rules.value("always_by_rule", False) and seats.max() > NOBODY:
            raise ValueError(f"{self.rules.game} opens every hand by rule: posers must be -1")
        self._batch.start_tables(self.records, self.packed, chosen, seats)
        for array in (self.reward, self.hands_ended, self.terminated, self.truncated, self.forced):
            array[chosen] = 0
        self.refresh()

    def refresh(self, **into: Unpack[Views]) -> None:
        """Write observation, mask and turn anew, after ``records`` has been changed by hand.

        Args:
            into: other arrays to write them into, from now on; by name.

        Raises:
            ValueError: an array that doesn't fit.
        """
        vars(self).update(self._as_buffers(into, VIEWS))
        rows, one_hot = self._rows(self.observation)
        self._batch.observe_tables(self.records, self.packed, rows, self.mask, self.turn, one_hot)

    def step(self, actions: npt.NDArray[Any], **into: Unpack[Buffers]) -> None:
        """Make one move on every table and write what follows into the arrays.

        Args:
            actions: integers (B,), the action of each table's seat to move.
            into: other arrays to write into, from now on; by name.

        Raises:
            ValueError: wrong shape or dtype; with ``checked`` an illegal action. Nothing has moved
                then, and the arrays are those of before.
        """
        actions = np.asarray(actions)
        if actions.shape != (len(self),) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape ({len(self)},), "
                f"not {actions.dtype} of shape {actions.shape}"
            )
        if not actions.dtype.isnative:  # kernels take none of the other byte order
            actions = actions.astype(actions.dtype.newbyteorder("="))
        given = self._as_buffers(into, VIEWS + RESULTS) if into else {}
        if self._crew.size > 1:
            self._share_step(actions, given)
            return
        if self.checked:
            self._refuse_illegal(actions)
        vars(self).update(given)
        rows, one_hot = self._rows(self.observation)
        self._batch.step_tables(
            self.records, self.packed, actions, *self._options(), rows, *_ARRAYS(self)[1:], one_hot
        )

    def _options(self) -> tuple[int, int, int]:
        return self._max_hands, self._by_match, int(self.auto_forced)

    def _share_step(self, actions: npt.NDArray[Any], given: Mapping[str, Any]) -> None:
        held = vars(self)
        arrays = [given.get(name, held[name]) for name in VIEWS + RESULTS]
        mine = self._shared(self.records, np.ascontiguousarray(actions, np.int64), *arrays)
        if not self._crew.run(FAMILIES[self._family].share_steps, mine, self._likes):
            self._refuse_illegal(actions)
        held.update(given)

    def _shared(
        self, records: Any, actions: Any, observation: Any, *arrays: Any
    ) -> tuple[Any, ...]:
        """The arguments of ``share_steps`` after the worker's number."""
        rows, one_hot = self._rows(observation)
        head = (int(self.checked), self._options(), self.packed)
        return (*head, records, actions, rows, *arrays, one_hot)

    def _like_shared(self) -> tuple[Any, ...]:
        """Arguments of the same types for a helper: a row of everything."""
        rows = [np.empty((1, *shape[1:]), dtype) for dtype, shape in self._specs.values()]
        return self._shared(np.empty(1, self.records.dtype), np.empty(1, np.int64), *rows)

    def _rows(self, observation: Any) -> tuple[Any, Any]:
        """What the kernels take: the rows, None; or a row to work in, and the one-hot rows."""
        if not self.one_hot:
            return observation, None
        return np.empty((1, self.layout.size), np.int16), observation

    def _refuse_illegal(self, actions: npt.NDArray[Any]) -> None:
        table = int(self._batch.first_illegal(self.records, self.packed, actions))
        if table >= 0:
            legal = np.flatnonzero(self.mask[table]).tolist()
            raise ValueError(
                f"table {table}: action {int(actions[table])} is illegal for seat "
                f"{int(self.turn[table])}; legal: {legal}"
            )

    def copy(self) -> Tables:
        """Return independent tables that go on from here."""
        return copy.deepcopy(self)

"""Many tables with one learning seat each as a Gymnasium vector environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from dominozoo.line.table import NOBODY
from dominozoo.notation import setup_of
from dominozoo.records import taken
from dominozoo.rules import Rules, rules_of
from dominozoo.single.common import (
    ARGUMENTS,
    ILLEGAL_REWARD,
    action_space,
    halves,
    observation_space,
    outcome,
    successes,
)
from dominozoo.single.kernels import KERNELS, Kernels, draw_seats, start_streams
from dominozoo.single.opponents import Observation, Player, cast, check_seat
from dominozoo.tables import FAMILIES, Family, check_reward

Array = npt.NDArray[Any]
Bools = npt.NDArray[np.bool_]
Json = dict[str, Any]
Step = tuple[Observation, Array, Array, Array, Json]

LARGEST_SEED: Final = (1 << 64) - 1


def about(mode: AutoresetMode) -> Json:
    """Gymnasium's metadata."""
    return {"render_modes": [], "autoreset_mode": mode}


class SeatVectorEnv(VectorEnv[Observation, Array, Array]):
    """``num_envs`` tables of a game, a learning seat at each; scripted bots play compiled.

    Table i, seeded with s, plays as a :class:`SeatEnv` seeded with s + i. Observations are
    ``{"observation": int16 (num_envs, layout size), "action_mask": int8 (num_envs, actions)}``,
    actions integers (num_envs,), rewards float64 (num_envs,). Each step returns new arrays.
    ``info`` is that of :class:`SeatEnv` as arrays, without ``hands``; an array ``key`` stands with a
    bool array ``_key`` that says for which tables it counts. An episode's end, by ``autoreset_mode``:

    * SAME_STEP: a new episode begins in the same step; ``info["final_obs"]``, objects, and
      ``info["final_info"]`` tell how the old one ended;
    * NEXT_STEP: the next step begins a new one whatever the action, with reward 0;
    * DISABLED: ``reset(options={"reset_mask": bool (num_envs,)})`` must come first.

    Attributes:
        rules: the game with all its options.
    """

    metadata = about(AutoresetMode.SAME_STEP)

    def __init__(
        self,
        game: str | Rules,
        num_envs: int = 1,
        *,
        opponents: Player | Sequence[Player] = "random",
        partner: Player | None = None,
        seat: int | str = "random",
        reward: str = "hand",
        max_hands: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        """Set up the tables; all arguments but these as for :class:`SeatEnv`.

        Args:
            game: the text form, "partnership" or "draw(players=3)", or rules.
            num_envs: number of tables, at least 1.
            opponents: bundles are asked once a turn for all tables that wait for them; functions
                once a table, which is slow.
            partner: who plays the partner in pair games.
            seat: the learning seat.
            reward: "hand" or "match".
            max_hands: end the episode after this many hands.
            autoreset_mode: SAME_STEP, NEXT_STEP or DISABLED, Gymnasium's enum or its value.
            render_mode: None; many tables are not drawn.
            **options: the game's options, if not in the text form.

        Raises:
            RulesError: an option that the game lacks, or a value that it doesn't take.
            OpponentError: players who don't fit; BundleError: a bundle that can't be read.
            ValueError: any other argument out of range.
        """
        mode = _mode(autoreset_mode)
        if render_mode is not None:
            raise ValueError(
                f"render_mode must be None, not {render_mode!r}: gymnasium.make draws one table"
            )
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise ValueError(f"num_envs must be an integer of at least 1, not {num_envs!r}")
        self.rules = rules_of(game, options, (*ARGUMENTS, "autoreset_mode"))
        self.metadata = about(mode)
        self.num_envs, self.render_mode = int(num_envs), None
        self._mode = mode
        self._given_seat = check_seat(seat, self.rules)
        self._cast = cast(self.rules, opponents, partner)
        self._max_hands, self._by_match = check_reward(reward, max_hands)
        self.single_observation_space = observation_space(self.rules)
        self.single_action_space = action_space(self.rules)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._num_actions = int(self.single_action_space.n)
        self._size = self._family.layout.size
        self._make_arrays()

    def _make_arrays(self) -> None:
        b, n = self.num_envs, self.rules.players
        family = self._family
        self._packed = family.pack(self.rules)
        self._records = np.zeros(b, family.table)
        self._rng = np.zeros((b, 4), np.uint32)
        self._seats = np.full(b, self._given_seat or 0, np.int8)
        codes = np.array(self._cast.codes, np.int8)
        self._codes_by_seat = np.stack([np.roll(codes, seat) for seat in range(n)])
        self._codes = self._codes_by_seat[self._seats]
        self._fresh = np.zeros(b, np.bool_)
        self._reward = np.zeros((b, n))
        self._hands_ended = np.zeros(b, np.int64)
        self._sums = np.zeros(b)
        self._bad = np.zeros(b, np.bool_)
        self._done = np.zeros(b, np.bool_)
        self._mask = np.zeros((b, self._num_actions), np.int8)
        self._everywhere = np.ones(b, np.bool_)
        self._rows = np.arange(b)
        self._no_actions = np.full(b, -1, np.int64)
        self._by_rule = np.full(b, NOBODY, np.int64)
        self._seeded = self._running = False

    @property
    def _family(self) -> Family:
        return FAMILIES[self.rules.variant.family]

    @property
    def _kernels(self) -> Kernels:
        return KERNELS[self.rules.variant.family]

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Observation, Json]:
        """Start episodes and play to the learning seats' first turns.

        Args:
            seed: restarts deals and bots: table i takes ``seed + i``, or ``seed[i]`` of a list;
                None goes on with them.
            options: ``reset_mask``, bool (num_envs,): the tables to reset, the others stay.

        Returns:
            (observation of all tables, info of those reset).

        Raises:
            ValueError: if the seed, the mask or an option can't be.
            OpponentError: if a function fails to move.
        """
        where = self._reset_mask(options)
        seeds = self._seeds(seed)
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        if seeds is None and not self._seeded:
            seeds = self._seeds(int(self.np_random.integers(1 << 63)))
        if not self._running and not where.all():
            raise ValueError("reset_mask: reset all tables first")
        self._running = False
        if seeds is not None:
            start_streams(self._records, self._rng, where, *halves(seeds))
            self._seeded = True
        self._hands_ended[:] = 0
        self._reward[:] = 0
        self._begin(where)
        self._running = True
        return self._observe(), self._info(where)

    def _reset_mask(self, options: Mapping[str, Any] | None) -> Bools:
        known = setup_of(options, ("reset_mask",))
        if known:
            raise ValueError(
                f"options: many tables can't be set up by {', '.join(known)}; use gymnasium.make"
            )
        mask = None if options is None else options.get("reset_mask")
        if mask is None:
            return self._everywhere
        chosen = np.asarray(mask)
        if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_:
            raise ValueError(
                f"reset_mask must be a bool array of shape ({self.num_envs},), "
                f"not {chosen.dtype} of shape {chosen.shape}"
            )
        if not chosen.any():
            raise ValueError("reset_mask must be true for at least one table")
        return chosen

    def _seeds(self, seed: int | Sequence[int] | None) -> list[int] | None:
        if seed is None:
            return None
        if not isinstance(seed, Sequence):
            halves([seed])
            if int(seed) > LARGEST_SEED - self.num_envs + 1:
                raise ValueError(f"seed + {self.num_envs - 1} must lie in 0..2**64-1, seed: {seed}")
            return [int(seed) + i for i in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} tables")
        return list(seed)

    def _begin(self, where: Bools) -> None:
        """Start new episodes and play to the learning seats' first turns."""
        batch = self._family.batch
        batch.start_tables(self._records, self._packed, where, self._by_rule)
        if self._given_seat is None:
            draw_seats(self._rng, where, self.rules.players, self._seats)
            self._codes[where] = self._codes_by_seat[self._seats[where]]
        self._fresh[where] = True
        self._sums[where] = 0
        self._done[where] = False
        self._play(where, self._no_actions)

    def _play(self, where: Bools, actions: Array) -> None:
        """Play the tables to the learners' next decisions, asking the minds where they are needed."""
        while True:
            self._kernels.play(
                self._records,
                self._packed,
                where,
                self._codes,
                self._rng,
                self._seats,
                self._fresh,
                actions,
                self._max_hands,
                self._by_match,
                self._reward,
                self._hands_ended,
            )
            if not self._cast.minds:
                return
            turn = self._records["turn"]
            where = where & (turn >= 0) & (turn != self._seats)
            if not where.any():
                return
            actions = self._ask(where, turn)

    def _ask(self, where: Bools, turn: Array) -> npt.NDArray[np.int64]:
        """The minds' moves on the tables that wait for them, -1 elsewhere."""
        actions = np.full(self.num_envs, -1, np.int64)
        away = (turn.astype(np.int64) - self._seats) % self.rules.players
        for seat, mind in self._cast.minds.items():
            rows = np.flatnonzero(where & (away == seat))
            if rows.size:
                seats = turn[rows]
                actions[rows] = mind.act(*self._look(taken(self._records, rows), seats), seats)
        return actions

    def _look(self, records: Array, seats: Array) -> tuple[Array, Array]:
        """New arrays: what seats see of tables, and their masks."""
        seen = np.empty((len(records), self._size), np.int16)
        mask = np.empty((len(records), self._num_actions), np.int8)
        self._kernels.look(records, self._packed, seats, seen, mask)
        return seen, mask

    def _observe(self) -> Observation:
        seen, self._mask = self._look(self._records, self._seats)
        self._mask[self._done] = 0
        return {"observation": seen, "action_mask": self._mask.copy()}

    def step(self, actions: Array) -> Step:
        """Make the learning seats' moves and play on to their next decisions.

        An illegal action ends its table's episode: reward -1, terminated, and ``illegal`` stands
        in the info that tells of the end. The other tables play on.

        Args:
            actions: integers (num_envs,).

        Returns:
            (observation, reward, terminated, truncated, info).

        Raises:
            ValueError: wrong shape or type, an id out of range, a table that must be reset first.
            OpponentError: if a function fails to move; reset() must follow.
        """
        moves, live = self._checked(actions)
        waiting = ~live
        self._running = False  # stays so if an opponent fails
        self._reward[:] = 0
        self._hands_ended[:] = 0
        count = self._kernels.illegal(self._records, self._packed, live, moves, self._bad)
        playing = live & ~self._bad if count else live
        self._fresh[playing] = False
        self._play(playing, moves)
        self._reward[self._bad, self._seats[self._bad]] = ILLEGAL_REWARD
        reward = self._reward[self._rows, self._seats]
        self._sums += reward
        done = live & (self._bad | (self._records["turn"] < 0))
        truncated = np.zeros(self.num_envs, np.bool_)
        info: Json = {}
        if done.any():
            ended = self._ended(done)
            if self._by_match:
                truncated = done & ~ended["match_over"] & ~self._bad
            info = self._hand_over(done, ended)
        elif waiting.any():
            self._begin(waiting)
        self._running = True
        observation = self._observe()
        return observation, reward, done & ~truncated, truncated, {**self._info(), **info}

    def _checked(self, actions: Array) -> tuple[npt.NDArray[np.int64], Bools]:
        """The actions, and the tables on which they are made."""
        if not self._running:
            raise ValueError("nothing is dealt, or an opponent failed: call reset()")
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape ({self.num_envs},), "
                f"not {given.dtype} of shape {given.shape}"
            )
        if not self._done.any():
            live = self._everywhere
        elif self._mode is AutoresetMode.DISABLED:
            tables = np.flatnonzero(self._done)[:8].tolist()
            raise ValueError(
                f"tables {tables} are over: reset(options={{'reset_mask': terminated | truncated}})"
            )
        else:
            live = ~self._done
        moves = given.astype(np.int64)
        wrong = live & ((moves < 0) | (moves >= self._num_actions))
        if wrong.any():
            table = int(wrong.argmax())
            raise ValueError(
                f"table {table}: action {moves[table]} is none of 0..{self._num_actions - 1}"
            )
        return moves, live

    def _ended(self, done: Bools) -> Json:
        """How the episodes ``done`` came out, as arrays over all tables."""
        rows = np.flatnonzero(done)
        found = outcome(taken(self._records, rows), self.rules)
        won = successes(found, self.rules, self._seats[rows], self._sums[rows], self._bad[rows])
        ended: Json = {}
        for name, values in (*found._asdict().items(), ("is_success", won)):
            ended[name] = np.zeros((self.num_envs, *values.shape[1:]), values.dtype)
            ended[name][rows] = values
        return ended

    def _hand_over(self, done: Bools, ended: Json) -> Json:
        """What a step tells of the episodes that ended in it; in SAME_STEP new ones begin."""
        told = {**ended, **{f"_{name}": done.copy() for name in ended}}
        if self._bad.any():
            illegal = np.full(self.num_envs, None, object)
            for row in np.flatnonzero(self._bad):
                illegal[row] = "the action is not in the mask"
            told["illegal"], told["_illegal"] = illegal, self._bad.copy()
        waiting = self._done.copy()
        self._done = done.copy()
        if self._mode is not AutoresetMode.SAME_STEP:
            if waiting.any():
                self._begin(waiting)
            return told
        rows = np.flatnonzero(done)
        seen, mask = self._look(taken(self._records, rows), self._seats[rows])
        mask[self._bad[rows]] = 0
        final = np.full(self.num_envs, None, object)
        final[rows] = [
            {"observation": one, "action_mask": legal}
            for one, legal in zip(seen, mask, strict=True)
        ]
        told.update(self._info(done))
        self._reward[done] = 0
        self._hands_ended[done] = 0
        self._begin(done)
        return {
            "final_obs": final,
            "_final_obs": done.copy(),
            "final_info": told,
            "_final_info": done.copy(),
        }

    def _info(self, where: Bools | None = None) -> Json:
        """What every step tells, of the tables ``where`` (None = all)."""
        counts = self._everywhere if where is None else where
        info: Json = {}
        for name, values in (
            ("seat", self._seats.astype(np.int64)),
            ("hands_ended", self._hands_ended.copy()),
            ("rewards", self._reward.copy()),
        ):
            if where is not None:
                values[~where] = 0
            info[name], info[f"_{name}"] = values, counts.copy()
        return info

    def action_masks(self) -> Bools:
        """The legal actions, bool (num_envs, actions); all False where an episode is over."""
        return self._mask.astype(np.bool_)

    def render(self) -> None:
        """Many tables are not drawn."""
        raise gymnasium.error.Error("many tables are not drawn: gymnasium.make draws one")


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    for mode in AutoresetMode:
        if given is mode or given in (mode.value, mode.name):
            return mode
    names = ", ".join(mode.name for mode in AutoresetMode)
    raise ValueError(f"autoreset_mode must be one of {names}, not {given!r}")

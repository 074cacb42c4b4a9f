"""One table behind PettingZoo's AEC API, for every game.

A game's module, ``block_v0`` say, names the game and documents it; all that is done is done here.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import logger, spaces
from gymnasium.utils import EzPickle
from pettingzoo.utils.env import AECEnv

from dominozoo.guard import Guard
from dominozoo.line.batch import ENDED
from dominozoo.line.score import CUT, MATCH_OVER
from dominozoo.notation import new_game, record_of, setup_of
from dominozoo.rules import IllegalActionError, check_names, make_rules
from dominozoo.tables import check_reward, fresh_seed, split_seed

Json = dict[str, Any]
Observation = dict[str, npt.NDArray[Any]]

RENDER_MODES: Final = ("human", "ansi", "rgb_array")


def metadata(game: str) -> Json:
    """PettingZoo's metadata of a game."""
    return {
        "name": f"{game}_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": 1,
        "is_parallelizable": False,
    }


class TableEnv(AECEnv[str, Observation, int], EzPickle):
    """One table of a game; an episode is a match.

    The modules' ``raw_env`` classes are this with a game's name. Illegal actions raise ValueError.
    A pickled or copied environment goes on from where it was.

    Attributes:
        rules: the game with all its options.
    """

    game: ClassVar[str]

    def __init__(
        self,
        *,
        reward: str = "hand",
        max_hands: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Set up an environment.

        Args:
            reward: "hand" rewards each hand, "match" the match alone.
            max_hands: end the episode after this many hands; None plays the match to its end.
            render_mode: None, "human" (prints), "ansi" (``render()`` returns the text) or "rgb_array"
                (``render()`` returns pixels; needs the extra ``render``).
            **options: the game's options.

        Raises:
            RulesError: an option that the game lacks, or a value that it doesn't take.
            ValueError: any other argument out of range.
            ImportError: "rgb_array" without Pillow.
        """
        arguments = {"reward": reward, "max_hands": max_hands, "render_mode": render_mode}
        EzPickle.__init__(self, **arguments, **options)
        super().__init__()  # type: ignore[no-untyped-call]
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode must be None, {', '.join(RENDER_MODES[:-1])} or {RENDER_MODES[-1]}, "
                f"not {render_mode!r}"
            )
        if render_mode == "rgb_array":
            _pixels()  # whoever lacks Pillow learns it now, not in the middle of a game
        self.render_mode = render_mode
        check_names(self.game, options, arguments)
        self.rules = make_rules(self.game, **options)
        self._max_hands, self._by_match = check_reward(reward, max_hands)
        self._table = new_game(self.rules, self._max_hands, self._by_match)
        self._names = tuple(f"player_{seat}" for seat in range(self.rules.players))
        self._seats = {name: seat for seat, name in enumerate(self._names)}
        self.possible_agents = list(self._names)
        self._observation_spaces = {name: self._new_space() for name in self._names}
        self._action_spaces = {
            name: spaces.Discrete(self._table.num_actions) for name in self._names
        }
        self._seeded = False

    def __getstate__(self) -> Json:
        """The whole environment, mid-game too, not only its arguments as EzPickle has it."""
        return self.__dict__.copy()

    def __setstate__(self, state: Json) -> None:
        """Go on from a pickled environment."""
        self.__dict__.update(state)

    def _new_space(self) -> spaces.Dict:
        high = self._table.layout.high()
        return spaces.Dict(
            {
                "observation": spaces.Box(np.zeros_like(high), high, dtype=np.int16),
                "action_mask": spaces.Box(0, 1, (self._table.num_actions,), np.int8),
            }
        )

    def observation_space(self, agent: str) -> gymnasium.Space[Any]:
        """Dict of "observation", int16 vector, and "action_mask", int8; the same object always."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.Space[Any]:
        """Discrete action ids; the same object always."""
        return self._action_spaces[agent]

    @functools.cached_property
    def state_space(self) -> spaces.Box:
        """The space of ``state()``: the whole table, int16; the same object always."""
        high = self._table.state_layout.high()
        return spaces.Box(np.zeros_like(high), high, dtype=np.int16)

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Start a match.

        Args:
            seed: 0..2**64-1, restarts the stream of deals; None goes on with it.
            options: set-ups, each may be missing: ``deal`` {"hands": [["6-6", ...], ...],
                "boneyard": [...]}, ``opener`` (the seat that poses any tile, as a previous winner;
                Le Truc: ``dealer``), ``scores`` by side, ``stake``, ``decider``; or ``position``,
                as ``position()`` gives it. Other keys are ignored.

        Raises:
            ValueError: if seed or set-up can't be; the table is as before then.
        """
        setup = setup_of(options)
        if seed is None and not self._seeded:
            seed = fresh_seed()
        turn = self._table.reset(None if seed is None else split_seed(seed), setup)
        self._seeded = True
        self.agents = list(self._names)
        self.rewards = dict.fromkeys(self._names, 0.0)
        self._cumulative_rewards = dict.fromkeys(self._names, 0.0)
        self.terminations = dict.fromkeys(self._names, False)
        self.truncations = dict.fromkeys(self._names, False)
        self.infos = {name: {} for name in self._names}
        self.agent_selection = self._names[turn]
        self._skip_agent_selection = None  # type: ignore[assignment]
        self._rewarded = False
        if self.render_mode == "human":
            self.render()

    def step(self, action: int | None) -> None:
        """Make the action of ``agent_selection``; a finished agent's action is None.

        Raises:
            ValueError: if the action is illegal, with the reason; nothing has moved then. Or before
                the first reset.
        """
        if not self._seeded:
            self._check_dealt("step()")
        agent = self.agent_selection
        if not self.agents:
            raise ValueError("all agents have finished: call reset()")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)  # type: ignore[arg-type]
            return
        code = self._table.step(self._action_id(action))
        self._cumulative_rewards[agent] = 0.0
        if self._rewarded:
            self.rewards = dict.fromkeys(self._names, 0.0)
            self._rewarded = False
        if self.infos[agent]:
            self.infos[agent] = {}
        self.agent_selection = self._names[code if code < ENDED else self._end_hand(code // ENDED)]
        if self.render_mode == "human":
            self.render()

    def _action_id(self, action: Any) -> int:
        """The action as a word that the kernels take; ValueError if it is none, or no integer."""
        try:
            move = operator.index(action)
        except TypeError:
            raise ValueError(
                f"{self.agent_selection} is to move: {action!r} is no action id"
            ) from None
        if move.bit_length() > 63:  # words have 64 bits
            raise IllegalActionError(
                f"action {move} is illegal: {move} is no action of {self.rules.module}: "
                f"ids are 0..{self._table.num_actions - 1}"
            )
        return move

    def _end_hand(self, status: int) -> int:
        """Hand out rewards and infos, deal or end the episode; returns the seat to select."""
        self.rewards = dict(zip(self._names, self._table.rewards, strict=True))
        self._accumulate_rewards()
        self._rewarded = True
        for name, last in zip(self._names, self._table.last_hands(), strict=True):
            self.infos[name] = {"last_hand": last}
        if not status & (MATCH_OVER | CUT):
            return self._table.deal()
        truncated = bool(status & CUT) and self._by_match == 1
        ended = self.truncations if truncated else self.terminations
        ended.update(dict.fromkeys(self._names, True))
        return 0

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Observation, cumulative reward, termination, truncation, info of ``agent_selection``.

        Raises:
            ValueError: before the first reset.
        """
        self._check_dealt("last()")
        return super().last(observe)

    def observe(self, agent: str) -> Observation:
        """A new observation of an agent; the mask is all zeros unless it is to move.

        Raises:
            ValueError: before the first reset, or if there is no such agent.
        """
        if not self._seeded:
            self._check_dealt("observe()")
        try:
            seat = self._seats[agent]
        except (KeyError, TypeError):
            raise ValueError(self._no_agent("observe()", agent)) from None
        row, mask = self._table.observe(seat)
        return {"observation": row, "action_mask": mask}

    def state(self) -> npt.NDArray[np.int16]:
        """The whole table as a vector, hidden tiles too, for a centralised critic.

        Raises:
            ValueError: before the first reset.
        """
        self._check_dealt("state()")
        return self._table.state()

    def position(self) -> Json:
        """The whole table as JSON types; ``reset(options={"position": ...})`` goes on from it."""
        self._check_dealt("position()")
        return self._table.position()

    def view(self, agent: str) -> Json:
        """What an agent may know of the table, as JSON types.

        Raises:
            ValueError: before the first reset, or if there is no such agent.
        """
        self._check_dealt("view()")
        if agent not in self._seats:
            raise ValueError(self._no_agent("view()", agent))
        return self._table.view(self._seats[agent])

    def record(self) -> list[Json]:
        """The game record since the reset; :mod:`dominozoo.notation` writes and replays it."""
        self._check_dealt("record()")
        return record_of(self._table, self._max_hands)

    def svg(self, agent: str | None = None) -> str:
        """The table as an SVG picture, in any render mode.

        Args:
            agent: draw what it may know, other hands face down; None shows every hand.

        Raises:
            ValueError: before the first reset, or if there is no such agent.
        """
        from dominozoo.render.svg import draw_svg

        self._check_dealt("svg()")
        if agent is None:
            return draw_svg(self.position())
        if agent not in self._seats:
            raise ValueError(self._no_agent("svg()", agent))
        return draw_svg(self.view(agent))

    def render(self) -> str | npt.NDArray[np.uint8] | None:
        """The table: text ("ansi"), printed text ("human"), or pixels (H, W, 3) ("rgb_array").

        Raises:
            ValueError: before the first reset.
        """
        if self.render_mode is None:
            modes = ", ".join(RENDER_MODES)
            logger.warn(f"render() needs render_mode at the environment's making: one of {modes}")
            return None
        self._check_dealt("render()")
        if self.render_mode == "rgb_array":
            pixels: npt.NDArray[np.uint8] = _pixels()(self.position())
            return pixels
        from dominozoo.render.text import draw

        text = draw(self.position())
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def _no_agent(self, what: str, agent: object) -> str:
        return f"{what}: no agent {agent!r}; there are {', '.join(self._names)}"

    def _check_dealt(self, what: str) -> None:
        if not self._seeded:
            raise ValueError(f"{what}: no table has been dealt yet; call reset() first")

    def close(self) -> None:
        """Nothing to release."""


def _pixels() -> Callable[[Json], npt.NDArray[np.uint8]]:
    """What draws pixels; imported late, since Pillow is an extra."""
    from dominozoo.render.pixels import draw_pixels

    return draw_pixels


def wrap(env: TableEnv) -> Guard:
    """An illegal action ends the episode at -1, calls must be in order."""
    return Guard(env)

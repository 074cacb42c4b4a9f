"""One table with one learning seat as a Gymnasium environment."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import logger

from dominozoo.bots import OUTSIDE, kernels
from dominozoo.line.batch import ENDED
from dominozoo.line.game import LineGame
from dominozoo.line.score import CUT, MATCH_OVER
from dominozoo.notation import setup_of
from dominozoo.render.svg import draw_svg
from dominozoo.render.text import draw
from dominozoo.rules import TRUC, Rules, rules_of
from dominozoo.single.common import (
    ARGUMENTS,
    ILLEGAL_REWARD,
    action_space,
    halves,
    observation_space,
    outcome,
    successes,
)
from dominozoo.single.kernels import draw_seats, start_streams
from dominozoo.single.opponents import Observation, Player, cast, check_seat
from dominozoo.tables import check_reward, split_seed
from dominozoo.truc.game import TrucGame

Json = dict[str, Any]

RENDER_MODES: Final = ("human", "ansi", "rgb_array")
NOBODY: Final = -1
EVERYWHERE: Final = np.ones(1, np.bool_)


def about() -> Json:
    """Gymnasium's metadata."""
    return {"render_modes": list(RENDER_MODES), "render_fps": 1}


class SeatEnv(gymnasium.Env[Any, Any]):
    """A seat of a game; bots play the others. An episode is a match, or ``max_hands`` hands.

    Observations are ``{"observation": int16 (layout size,), "action_mask": int8 (actions,)}``, the
    mask all zeros at the end. Rewards are the seat's own. ``info`` holds

    * ``seat``: int, the learning seat of this episode;
    * ``hands_ended``: int, hands that ended in this step;
    * ``rewards``: float64 (players,), everybody's rewards of this step;
    * ``hands``: a list of what these hands were, each as ``view()["last_hand"]`` tells it;
    * ``illegal``: why the action was illegal, if it was; it ended the episode at -1;
    * at the end ``match_over``: bool, ``winners``: bool (sides,), ``scores``: int64 (sides,), and
      ``is_success``: bool, the match was won, or an episode cut by ``max_hands`` gave more than 0.

    Attributes:
        rules: the game with all its options.
    """

    metadata = about()

    def __init__(
        self,
        game: str | Rules,
        *,
        opponents: Player | Sequence[Player] = "random",
        partner: Player | None = None,
        seat: int | str = "random",
        reward: str = "hand",
        max_hands: int | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        """Set up an environment.

        Args:
            game: the text form, "partnership" or "draw(players=3)", or rules.
            opponents: one for all, or a list, one for each opponent in playing order from the
                learning seat on. A player is a bot's short code ("random", "easy", "normal",
                "hard", "mobility"), a bundle's path, a loaded bot, or a function of the
                observation that returns an action; it is asked where there is a choice.
            partner: who plays the partner in pair games; None = the one who plays all opponents.
            seat: the learning seat; "random" draws it anew each episode.
            reward: "hand" rewards each hand, "match" the match alone.
            max_hands: end the episode after this many hands; None plays the match to its end.
            render_mode: None, "human" (prints), "ansi" (``render()`` returns the text) or
                "rgb_array" (it returns pixels; needs Pillow).
            **options: the game's options, if not in the text form.

        Raises:
            RulesError: an option that the game lacks, or a value that it doesn't take.
            OpponentError: players who don't fit; BundleError: a bundle that can't be read.
            ValueError: any other argument out of range.
            ImportError: "rgb_array" without Pillow.
        """
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise ValueError(
                f"render_mode must be None, {', '.join(RENDER_MODES[:-1])} or {RENDER_MODES[-1]}, "
                f"not {render_mode!r}"
            )
        if render_mode == "rgb_array":
            _pixels()  # whoever lacks Pillow learns it now, not in the middle of a game
        self.render_mode = render_mode
        self.rules = rules_of(game, options, ARGUMENTS)
        self._given_seat = check_seat(seat, self.rules)
        self._cast = cast(self.rules, opponents, partner)
        hands, by_match = check_reward(reward, max_hands)
        self._by_match = by_match
        one = TrucGame if self.rules.variant.family == TRUC else LineGame
        self._game: LineGame | TrucGame = one(self.rules, hands, by_match)
        self.observation_space = observation_space(self.rules)
        self.action_space = action_space(self.rules)
        self._rng = np.zeros((1, 4), np.uint32)
        self._seats = np.full(1, self._given_seat or 0, np.int8)
        self._seeded = False
        self._turn = NOBODY
        self._sum = 0.0
        self._clear()

    def _clear(self) -> None:
        """Forget what the last step brought."""
        self._rewards: npt.NDArray[np.float64] = np.zeros(self.rules.players)
        self._hands: list[Json] = []
        self._status = 0

    @property
    def _seat(self) -> int:
        return int(self._seats[0])

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Observation, Json]:
        """Start an episode and play to the learning seat's first turn.

        Args:
            seed: 0..2**64-1, restarts deals and bots; None goes on with them.
            options: set-ups as in the games' ``reset``: deal, opener, dealer, scores, stake,
                decider, or position; others are ignored.

        Returns:
            (observation, info).

        Raises:
            ValueError: if seed or set-up can't be, or the learning seat gets no turn any more.
            OpponentError: if a function fails to move.
        """
        setup = setup_of(options)
        if seed is not None:
            split_seed(seed)
            super().reset(seed=int(seed))
        elif not self._seeded:
            seed = int(self.np_random.integers(1 << 63))
        turn = self._game.reset(None if seed is None else split_seed(seed), setup)
        if seed is not None:
            start_streams(np.zeros_like(self._game.tables), self._rng, EVERYWHERE, *halves([seed]))
            self._seeded = True
        if self._given_seat is None:
            draw_seats(self._rng, EVERYWHERE, self.rules.players, self._seats)
        self._turn, self._sum = NOBODY, 0.0  # stays so if an opponent fails
        self._clear()
        turn = self._play_on(turn, fresh=True)
        if turn == NOBODY:
            raise ValueError(f"the episode ends before seat {self._seat}, the learner's, moves")
        self._turn = turn
        self._show()
        return self._observe(), self._info()

    def step(self, action: int) -> tuple[Observation, float, bool, bool, Json]:
        """Make the learning seat's move and play on to its next decision.

        An illegal action moves nothing and ends the episode: reward -1, terminated, and
        ``info["illegal"]`` says why.

        Returns:
            (observation, reward, terminated, truncated, info).

        Raises:
            ValueError: if the episode is over, or the action is no action id.
            OpponentError: if a function fails to move; the episode is over then.
        """
        if self._turn == NOBODY:
            raise ValueError("the episode is over, or has not begun: call reset()")
        try:
            move = operator.index(action)
        except TypeError:
            raise ValueError(f"{action!r} is no action id") from None
        if not 0 <= move < self._game.num_actions:
            raise ValueError(f"action {move} is none of 0..{self._game.num_actions - 1}")
        self._clear()
        self._turn = NOBODY
        try:
            code = self._game.step(move)
        except ValueError as error:
            return self._end_illegal(str(error))
        self._turn = self._play_on(self._follow(code))
        self._show()
        reward = float(self._rewards[self._seat])
        self._sum += reward
        truncated = bool(self._status & CUT) and self._by_match == 1
        over = self._turn == NOBODY
        return self._observe(), reward, over and not truncated, truncated, self._info()

    def _end_illegal(self, reason: str) -> tuple[Observation, float, bool, bool, Json]:
        """End the episode as PettingZoo does."""
        self._rewards[self._seat] = ILLEGAL_REWARD
        info = self._info(illegal=True)
        info["illegal"] = reason
        observation = self._observe()
        observation["action_mask"][:] = 0
        return observation, ILLEGAL_REWARD, True, False, info

    def _follow(self, code: int) -> int:
        """Note what a move led to, deal; returns the seat to move, NOBODY at the end."""
        if code < ENDED:
            return code
        self._status = code // ENDED
        self._rewards += self._game.rewards
        self._hands.append(self._game.last_hands()[self._seat])
        return NOBODY if self._status & (MATCH_OVER | CUT) else self._game.deal()

    def _play_on(self, turn: int, fresh: bool = False) -> int:
        """Let the others play until the learner is asked; returns its seat, NOBODY at the end."""
        while turn != NOBODY:
            away = (turn - self._seat) % self.rules.players
            code = self._cast.codes[away]
            if code != OUTSIDE:
                action = self._scripted(code)
            else:
                if fresh and away == 0:
                    break
                seen, mask = self._game.observe(turn)
                if self.rules.variant.family != TRUC and mask.sum() == 1:
                    action = int(mask.argmax())
                elif away == 0:
                    break
                else:
                    action = int(
                        self._cast.minds[away].act(seen[None], mask[None], np.array([turn]))[0]
                    )
            turn = self._follow(self._game.step(action))
        return turn

    def _scripted(self, code: int) -> int:
        """The move of a scripted bot for the seat to move."""
        actions = np.empty(1, np.int64)
        codes = np.full((1, self.rules.players), code, np.int8)
        choose = kernels(self.rules).choose
        choose(self._game.tables, self._game.packed, codes, self._rng, actions, EVERYWHERE)
        return int(actions[0])

    def _observe(self) -> Observation:
        seen, mask = self._game.observe(self._seat)
        return {"observation": seen, "action_mask": mask}

    def _info(self, illegal: bool = False) -> Json:
        info: Json = {
            "seat": self._seat,
            "hands_ended": len(self._hands),
            "rewards": self._rewards.copy(),
            "hands": list(self._hands),
        }
        if self._turn == NOBODY:
            found = outcome(self._game.tables, self.rules)
            sums, bad = np.array([self._sum]), np.array([illegal])
            won = successes(found, self.rules, self._seats, sums, bad)
            info["match_over"] = bool(found.match_over[0])
            info["winners"], info["scores"] = found.winners[0], found.scores[0]
            info["is_success"] = bool(won[0])
        return info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The legal actions, bool (actions,); all False at the end. sb3-contrib asks for it."""
        if self._turn == NOBODY:
            return np.zeros(self._game.num_actions, np.bool_)
        return self._game.observe(self._seat)[1].astype(np.bool_)

    def position(self) -> Json:
        """The whole table as JSON types."""
        return self._game.position()

    def view(self) -> Json:
        """What the learning seat may know of the table, as JSON types."""
        return self._game.view(self._seat)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

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
        text = draw(self.position())
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def svg(self, *, own: bool = False) -> str:
        """The table as an SVG picture, in any render mode.

        Args:
            own: draw what the learning seat may know; False shows every hand.

        Raises:
            ValueError: before the first reset.
        """
        self._check_dealt("svg()")
        return draw_svg(self.view() if own else self.position())

    def _check_dealt(self, what: str) -> None:
        if not self._seeded:
            raise ValueError(f"{what}: no table has been dealt yet; call reset() first")

    def close(self) -> None:
        """Nothing to release."""


def _pixels() -> Callable[[Json], npt.NDArray[np.uint8]]:
    """What draws pixels; imported late, since Pillow is an extra."""
    from dominozoo.render.pixels import draw_pixels

    return draw_pixels

"""The house's trainer and sb3-contrib's MaskablePPO: the same processor time, the same judge.

    pip install -e '.[train,examples]' -c constraints.txt
    python examples/compare_maskable_ppo.py partnership --minutes 5 --seed 1

Both learn single hands in one thread of one process, one after the other; learning rates fall over the
time given. MaskablePPO has the settings of `sb3_maskable_ppo.py` and holds one seat against scripted
players (`--opponents`, who hold the partner's seat, too); the house's trainer plays against itself.
The arena judges: duplicate deals that neither has learnt from, likeliest moves, 95 % intervals.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import LINE, Rules, parse
from dominozoo.single import SeatVectorEnv
from dominozoo.single.sb3 import SeatVecEnv
from dominozoo_training.evaluation.arena import make_setting, play_pair
from dominozoo_training.evaluation.entrants import Entrant, Policy, policy_entrant, scripted
from dominozoo_training.evaluation.sb3_model import ModelPolicy
from dominozoo_training.learning.config import load_config
from dominozoo_training.learning.state import frozen_policy, new_learner
from dominozoo_training.learning.trainer import learn_once, progress

TEST_SEED = 10_000_000  # of deals that training never sees


class Learnt(NamedTuple):
    """What came of the time given.

    Attributes:
        policy: plays in the arena.
        decisions: learned from.
        seconds: of the processor, all of playing and learning included.
    """

    policy: Policy
    decisions: int
    seconds: float


def learn_house(args: argparse.Namespace, seconds: float) -> Learnt:
    """`dominozoo train` without its watching and saving; one update at least."""
    words = [f"seed={args.seed}", "rollout.goal=win", "device=cpu", "budget.decisions=null"]
    if args.quick:
        words += ["rollout.tables=256", "ppo.minibatch=256", "rollout.steps=8"]
    minutes = f"budget.minutes={max(seconds, 1e-9) / 60}"
    start = time.process_time()
    learner = new_learner(load_config(str(args.rules), overrides=[*words, minutes]))
    player = learner.player()
    while not learner.decisions or progress(learner) < 1:
        learn_once(learner, player)
        learner.seconds = time.process_time() - start
    return Learnt(frozen_policy(learner), learner.decisions, learner.seconds)


class UntilUsed(BaseCallback):
    """Ends learning when the processor's time is used, after one update at least."""

    def __init__(self, share: Callable[[], float], first: int) -> None:
        super().__init__()
        self.share, self.first = share, first

    def _on_step(self) -> bool:
        return self.num_timesteps <= self.first or self.share() < 1


def learn_sb3(args: argparse.Namespace, seconds: float) -> Learnt:
    """MaskablePPO as in `sb3_maskable_ppo.py`; its learning rate falls with the time that is left."""
    tables, steps = (64, 16) if args.quick else (256, 64)
    start = time.process_time()

    def share() -> float:
        return (time.process_time() - start) / max(seconds, 1e-9)

    seats = SeatVectorEnv(args.rules, tables, opponents=args.opponents, max_hands=1)
    model = MaskablePPO(
        "MlpPolicy",
        SeatVecEnv(seats),
        learning_rate=lambda _: 1e-3 * max(0.0, 1 - share()),
        n_steps=steps,
        batch_size=min(2048, tables * steps),
        n_epochs=4,
        gamma=1.0,
        gae_lambda=0.95,
        ent_coef=0.005,
        policy_kwargs={"net_arch": [128, 128]},
        seed=args.seed,
        device="cpu",
    )
    model.learn(1 << 40, callback=UntilUsed(share, tables * steps))
    policy = ModelPolicy(model, LINE_LAYOUT, masked=True, form="onehot")
    return Learnt(policy, model.num_timesteps, time.process_time() - start)


def judged(rules: Rules, entrant: Entrant, rival: Entrant, deals: int) -> str:
    """The win rate of an entrant against another, as text."""
    result = play_pair(make_setting(rules, deals, TEST_SEED), entrant, rival)
    return f"{result.win_rate:.2%} ({result.low:.2%}..{result.high:.2%})"


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("game", nargs="?", default="partnership", help="a line game's text form")
    parser.add_argument("--minutes", type=float, default=5.0, help="of the processor, for each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--opponents", default="random", help="whom MaskablePPO learns against")
    parser.add_argument("--deals", type=int, default=20_000, help="of the measurement")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    args = parser.parse_args()
    args.rules = parse(args.game)
    if args.rules.variant.family != LINE:
        parser.error(f"game: {args.game} is no line game")
    if args.quick:
        args.minutes, args.deals = 1 / 60, 500
    return args


def main() -> None:
    """Warm up, learn, judge."""
    args = read_arguments()
    torch.set_num_threads(1)
    learners: dict[str, Callable[[Any, float], Learnt]] = {
        "house": learn_house,
        "MaskablePPO": learn_sb3,
    }
    for learn in learners.values():
        learn(args, 0.0)  # what is compiled now isn't counted
    print(f"{args.rules}, {args.minutes:.3g} minutes of the processor each, seed {args.seed}")
    entrants = []
    for name, learn in learners.items():
        found = learn(args, 60 * args.minutes)
        entrants.append(policy_entrant(name, found.policy))
        rate = found.decisions / found.seconds
        print(f"{name}: {found.decisions} decisions, {rate:.0f} a second", flush=True)
        for rival in ("random", "hard"):
            rated = judged(args.rules, entrants[-1], scripted(rival), args.deals)
            print(f"{name} against {rival}: {rated}", flush=True)
    house, theirs = entrants
    print(f"house against MaskablePPO: {judged(args.rules, house, theirs, args.deals)}")


if __name__ == "__main__":
    main()

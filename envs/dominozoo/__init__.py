"""Domino games as PettingZoo environments.

Importing this package registers them: ``pettingzoo.make("aec", "dominozoo/block-v0")``, and with
one learning seat for Gymnasium: ``gymnasium.make("dominozoo/Block-v0", opponents="hard")``.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

import gymnasium
from pettingzoo import aec_registry, register

if TYPE_CHECKING:
    from dominozoo.bots.bundle import load_bot as load_bot
    from dominozoo.bots.solving import solve as solve

__version__ = "0.1.0"

# PettingZoo's id of each game, and its module.
AEC_IDS: Final = {
    "dominozoo/block-v0": "dominozoo.block_v0",
    "dominozoo/draw-v0": "dominozoo.draw_v0",
    "dominozoo/partnership-v0": "dominozoo.partnership_v0",
    "dominozoo/cutthroat-v0": "dominozoo.cutthroat_v0",
    "dominozoo/six-love-v0": "dominozoo.six_love_v0",
    "dominozoo/chiva-v0": "dominozoo.chiva_v0",
    "dominozoo/french-v0": "dominozoo.french_v0",
    "dominozoo/truc-v0": "dominozoo.truc_v0",
}

# Gymnasium's id of each game, and its name.
GYMNASIUM_IDS: Final = {
    "dominozoo/Block-v0": "block",
    "dominozoo/Draw-v0": "draw",
    "dominozoo/Partnership-v0": "partnership",
    "dominozoo/Cutthroat-v0": "cutthroat",
    "dominozoo/SixLove-v0": "six_love",
    "dominozoo/Chiva-v0": "chiva",
    "dominozoo/French-v0": "french",
    "dominozoo/Truc-v0": "truc",
}

for _id, _module in AEC_IDS.items():
    if _id not in aec_registry:
        register("aec", _id, f"{_module}:env")

for _id, _game in GYMNASIUM_IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="dominozoo.single.registered:seat_env",
            vector_entry_point="dominozoo.single.registered:seat_vector_env",
            kwargs={"registered": _game},
        )


def __dir__() -> list[str]:
    """What can be asked for, loaded or not."""
    lazy = ("load_bot", "solve")
    return sorted({*globals(), *lazy, *(module.split(".")[1] for module in AEC_IDS.values())})


def __getattr__(name: str) -> Any:
    """``load_bot``, ``solve`` and the games' modules, brought only when asked for: they compile."""
    if f"{__name__}.{name}" in AEC_IDS.values():
        return importlib.import_module(f"{__name__}.{name}")
    if name == "load_bot":
        from dominozoo.bots.bundle import load_bot

        return load_bot
    if name == "solve":
        from dominozoo.bots.solving import solve

        return solve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Domino games as PettingZoo environments."""

__version__ = "0.1.0"

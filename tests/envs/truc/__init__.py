"""Tests of Domino Le Truc; ``helpers`` is what they share."""

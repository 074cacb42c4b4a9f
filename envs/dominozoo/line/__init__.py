"""The matching games: one family of compiled kernels plays every variant."""

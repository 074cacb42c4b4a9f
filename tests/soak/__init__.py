"""Random play at length: invariants of every game, and the figures that it gives."""

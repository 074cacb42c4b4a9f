"""How good a player is: the arena."""

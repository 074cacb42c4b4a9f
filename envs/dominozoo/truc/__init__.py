"""Domino Le Truc: an exchange, three tricks, and calls that double what the round is worth."""

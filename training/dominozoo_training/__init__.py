"""Self-play training, judging and exporting of domino bots."""

"""Self-play training, judging and exporting of domino bots."""

from __future__ import annotations


def remedy(extras: str) -> str:
    """How to install extras, for who has a clone and who hasn't; the constraints pin torch.

    >>> remedy("train")
    "in a clone pip install -e '.[train]' -c constraints.txt, elsewhere pip install 'dominozoo[train]'"
    """
    clone = f"pip install -e '.[{extras}]' -c constraints.txt"
    return f"in a clone {clone}, elsewhere pip install 'dominozoo[{extras}]'"

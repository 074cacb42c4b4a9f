"""The referee: all games once more, slow and plain, from the rules' text alone.

It shares no code with the product, so that whatever both agree on has been read twice. `line` holds
the games that match ends, `truc` holds Domino Le Truc; both offer start(), position() and view().
A driver hands every deal in, since the product's shuffle is not the referee's.
"""

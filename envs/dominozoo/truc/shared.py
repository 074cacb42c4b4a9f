"""Steps of Domino Le Truc that threads share by a board: see ``sharing``."""

from __future__ import annotations

from typing import Any

from dominozoo.compiler import njit
from dominozoo.sharing import (
    ACTIONS,
    AUTO_FORCED,
    BY_MATCH,
    CHECK,
    FORCED,
    HANDS_ENDED,
    ILLEGAL,
    KIND,
    LOOKS,
    MASK,
    MAX_HANDS,
    OBSERVATION,
    RECORDS,
    REWARD,
    STEP,
    TERMINATED,
    TRUNCATED,
    TURN,
    atomic_store,
    claim,
    enter,
    go_on,
    post,
    rows_at,
    write_order,
)
from dominozoo.truc.batch import first_illegal, step_tables


@njit(cache=True, nogil=True)
def share_steps(
    board: Any,
    me: Any,
    checked: Any,
    options: Any,
    packed: Any,
    tables: Any,
    actions: Any,
    observation: Any,
    mask: Any,
    turn: Any,
    reward: Any,
    hands_ended: Any,
    terminated: Any,
    truncated: Any,
    forced: Any,
    one_hot: Any = None,
) -> Any:
    """``batch.step_tables`` among the workers of a board, after a check of the actions if ``checked``.

    ``board`` is one of ``sharing.new_board``; ``options`` are (max_hands, by_match, auto_forced); the
    other parameters are those of ``step_tables``. Worker ``me`` is 0 for the caller, whose arrays are
    stepped. Helpers go on until no order comes, and what they are given tells types and lengths of
    rows only; with ``one_hot`` their ``observation`` is a row of their own to work in.

    Returns False to the caller if an action is illegal; nothing has moved then.
    """
    if me == 0:
        write_order(
            board,
            options,
            tables,
            actions,
            observation,
            mask,
            turn,
            reward,
            hands_ended,
            terminated,
            truncated,
            forced,
            one_hot,
        )
        number = post(board, CHECK if checked else STEP, tables.shape[0])
    else:
        number = enter(board, 0, LOOKS)
    while number != 0:
        at, count = claim(board, me)
        while count > 0:
            records = rows_at(tables, board[RECORDS], at, count)
            chosen = rows_at(actions, board[ACTIONS], at, count)
            if board[KIND] == CHECK:
                if first_illegal(records, packed, chosen) >= 0:
                    atomic_store(board, ILLEGAL, 1)
            else:
                rows = observation
                if one_hot is None:
                    rows = rows_at(observation, board[OBSERVATION], at, count)
                step_tables(
                    records,
                    packed,
                    chosen,
                    board[MAX_HANDS],
                    board[BY_MATCH],
                    board[AUTO_FORCED],
                    rows,
                    rows_at(mask, board[MASK], at, count),
                    rows_at(turn, board[TURN], at, count),
                    rows_at(reward, board[REWARD], at, count),
                    rows_at(hands_ended, board[HANDS_ENDED], at, count),
                    rows_at(terminated, board[TERMINATED], at, count),
                    rows_at(truncated, board[TRUNCATED], at, count),
                    rows_at(forced, board[FORCED], at, count),
                    rows_at(one_hot, board[OBSERVATION], at, count),
                )
            at, count = claim(board, me)
        number = go_on(board, me, number, tables.shape[0])
    return board[ILLEGAL] == 0

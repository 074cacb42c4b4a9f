"""Tables that write into the caller's arrays, also in the one-hot form."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from dominozoo.fields import LINE_LAYOUT
from dominozoo.tables import Tables

COUNT = 6
STEPS = 30
GAMES = ["block", "partnership", "french", "truc"]
SHAPES: dict[str, tuple[Any, tuple[int, ...]]] = {
    "observation": (np.int16, (LINE_LAYOUT.size,)),
    "mask": (np.int8, (58,)),
    "turn": (np.int8, ()),
    "reward": (np.float32, (2,)),
    "hands_ended": (np.int32, ()),
    "terminated": (np.bool_, ()),
    "truncated": (np.bool_, ()),
    "forced": (np.int32, ()),
}


class Shares:
    """Stands for a tensor: NumPy sees its memory through ``__array__``."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return self.array


class Packs:
    """Stands for a tensor that knows DLPack alone."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Refuses:
    """Stands for a tensor elsewhere."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        raise TypeError("it lies on another device")


def choose(mask: npt.NDArray[np.int8], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    return np.asarray(((rng.random(mask.shape) + 1) * mask).argmax(axis=1), np.int64)


@pytest.mark.plain
@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("game", GAMES)
def test_a_rollout_in_the_callers_memory_is_what_the_tables_say(game: str, one_hot: bool) -> None:
    tables = Tables(game, COUNT, seed=3)
    layout = tables.layout
    shape = (STEPS + 1, COUNT, layout.columns if one_hot else layout.size)
    seen = np.full(shape, -7, np.float32 if one_hot else np.int16)
    masks = np.full((STEPS + 1, COUNT, tables.num_actions), -7, np.int8)
    turns = np.full((STEPS + 1, COUNT), -7, np.int8)
    rewards = np.full((STEPS, COUNT, tables.rules.players), -7, np.float32)
    into = Tables(
        game, COUNT, seed=3, one_hot=one_hot, observation=seen[0], mask=masks[0], turn=turns[0]
    )
    rng = np.random.default_rng(0)
    for t in range(STEPS):
        expected = layout.expand(tables.observation) if one_hot else tables.observation
        assert (seen[t] == expected).all()
        assert (masks[t] == tables.mask).all()
        assert (turns[t] == tables.turn).all()
        actions = choose(tables.mask, rng)
        tables.step(actions)
        into.step(
            actions,
            observation=seen[t + 1],
            mask=masks[t + 1],
            turn=turns[t + 1],
            reward=rewards[t],
        )
        assert (rewards[t] == tables.reward).all()
    assert (seen != -7).all()
    assert (masks != -7).all()


def test_every_array_can_be_given() -> None:
    tables, plain = Tables("block", COUNT, seed=1), Tables("block", COUNT, seed=1)
    given: dict[str, Any] = {
        name: np.full((COUNT, *shape), 1, dtype) for name, (dtype, shape) in SHAPES.items()
    }
    actions = plain.mask.argmax(axis=1)
    plain.step(actions)
    tables.step(actions, **given)
    for name, array in given.items():
        assert getattr(tables, name) is array or np.shares_memory(getattr(tables, name), array)
        assert (array == getattr(plain, name)).all(), name


def test_what_was_given_stays_until_another_is() -> None:
    tables = Tables("draw", COUNT, seed=1)
    first = tables.mask
    given = np.zeros_like(first)
    tables.step(first.argmax(axis=1), mask=given)
    kept = first.copy()
    tables.step(given.argmax(axis=1))
    assert (first == kept).all()
    assert tables.mask is given
    other = np.zeros_like(first)
    tables.refresh(mask=other)
    assert (other == given).all()
    tables.reset(5)
    assert (other == Tables("draw", COUNT, seed=5).mask).all()


@pytest.mark.parametrize("wrap", [Shares, Packs])
def test_tensors_are_taken_by_their_protocols(wrap: type[Any]) -> None:
    memory = np.zeros((COUNT, LINE_LAYOUT.size), np.int16)
    tables = Tables("block", COUNT, seed=2, observation=wrap(memory))
    assert (memory == Tables("block", COUNT, seed=2).observation).all()
    assert memory.any()
    other = np.zeros_like(memory)
    tables.refresh(observation=wrap(other))
    assert (memory == other).all()


def locked(shape: tuple[int, ...]) -> npt.NDArray[np.int16]:
    array = np.zeros(shape, np.int16)
    array.flags.writeable = False
    return array


SIZE = LINE_LAYOUT.size


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (np.zeros((COUNT, SIZE)), r"int16 of shape \(6, 178\), not float64 of shape \(6, 178\)"),
        (np.zeros((COUNT, SIZE), ">i2"), "must be int16 of shape"),
        (np.zeros((COUNT + 1, SIZE), np.int16), r"not int16 of shape \(7, 178\)"),
        (np.zeros((COUNT, SIZE), np.int16, "F"), "must be C-ordered, aligned and writable"),
        (np.zeros((COUNT, SIZE * 2), np.int16)[:, ::2], "must be C-ordered, aligned and writable"),
        (locked((COUNT, SIZE)), "must be C-ordered, aligned and writable"),
        ([[0] * SIZE] * COUNT, "a tensor that shares its memory, not list"),
        (None, "a tensor that shares its memory, not NoneType"),
        (Refuses(), "observation can't be shared with NumPy: it lies on another device"),
    ],
    ids=["float", "order of bytes", "rows", "order", "strides", "locked", "list", "none", "device"],
)
def test_arrays_that_do_not_fit_are_refused_and_nothing_moves(given: Any, reason: str) -> None:
    tables = Tables("block", COUNT, seed=1)
    before, mask = tables.records.copy(), np.zeros_like(tables.mask)
    with pytest.raises(ValueError, match=reason):
        tables.step(tables.mask.argmax(axis=1), mask=mask, observation=given)
    assert (tables.records == before).all()
    assert tables.mask is not mask
    with pytest.raises(ValueError, match=reason):
        Tables("block", COUNT, seed=1, observation=given)


def test_an_illegal_action_leaves_the_arrays_as_they_were() -> None:
    tables = Tables("block", COUNT, seed=1)
    mask, given = tables.mask, np.full_like(tables.mask, 9)
    with pytest.raises(ValueError, match="is illegal"):
        tables.step(np.full(COUNT, 57), mask=given)
    assert tables.mask is mask
    assert (given == 9).all()


def test_unknown_arrays_are_no_arguments() -> None:
    tables = Tables("block", COUNT, seed=1)
    unknown: Any = {"masks": tables.mask}
    results: Any = {"forced": tables.forced}
    with pytest.raises(TypeError, match=r"'masks'.*observation, mask, turn, reward"):
        tables.step(tables.mask.argmax(axis=1), **unknown)
    with pytest.raises(TypeError, match=r"'forced'.*observation, mask, turn$"):
        tables.refresh(**results)
    with pytest.raises(TypeError, match="unexpected argument 'masks'"):
        Tables("block", COUNT, **unknown)


@pytest.mark.parametrize("how", ["copy", "pickle"])
def test_a_copy_writes_into_memory_of_its_own(how: str) -> None:
    given = np.zeros((COUNT, LINE_LAYOUT.columns), np.float32)
    tables = Tables("block", COUNT, seed=1, one_hot=True, observation=given)
    twin = tables.copy() if how == "copy" else pickle.loads(pickle.dumps(tables))
    before = given.copy()
    twin.step(twin.mask.argmax(axis=1))
    assert (given == before).all()
    tables.step(tables.mask.argmax(axis=1))
    assert (given == twin.observation).all()
    assert (given != before).any()


def test_arrays_that_overlap_are_refused() -> None:
    memory = np.zeros(COUNT * LINE_LAYOUT.size * 2 + COUNT * 58, np.int8)
    rows = memory[: COUNT * LINE_LAYOUT.size * 2].view(np.int16).reshape(COUNT, -1)
    over, apart = (memory[at:][: COUNT * 58].reshape(COUNT, 58) for at in (16, rows.nbytes))
    both = "observation and mask overlap in memory: give each its own"
    with pytest.raises(ValueError, match=both):
        Tables("block", COUNT, seed=1, observation=rows, mask=over)
    tables = Tables("block", COUNT, seed=1, observation=rows, mask=apart)
    legal = tables.mask.argmax(axis=1)
    before = memory.copy()
    with pytest.raises(ValueError, match="observation and mask overlap"):
        tables.step(legal, mask=over)
    with pytest.raises(ValueError, match="observation and mask overlap"):
        tables.refresh(mask=over)
    flags = np.zeros(COUNT, np.bool_)
    with pytest.raises(ValueError, match="terminated and truncated overlap"):
        tables.step(legal, terminated=flags, truncated=flags)
    assert np.array_equal(memory, before)
    tables.step(legal, mask=apart, observation=rows, terminated=flags)

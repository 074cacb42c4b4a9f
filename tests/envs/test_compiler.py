"""How kernels are compiled: what only kernels call, and what is left alone meanwhile."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from numba.core import event

from dominozoo.compiler import helper, njit


@helper()
def doubled(number: Any) -> Any:
    return 2 * number


@njit()
def doubled_twice(number: Any) -> Any:
    return doubled(doubled(number))


def test_what_kernels_call_is_refused_to_python_before_and_after_it_is_compiled() -> None:
    with pytest.raises(TypeError, match="doubled: only kernels call it"):
        doubled(3)
    assert doubled_twice(3) == 12
    with pytest.raises(TypeError, match="doubled: only kernels call it"):
        doubled(3)


class Collecting(event.Listener):
    """Whether Python collects garbage, each time that something begins to be compiled."""

    def __init__(self) -> None:
        self.seen: list[bool] = []

    def on_start(self, event: Any) -> None:
        self.seen.append(gc.isenabled())

    def on_end(self, event: Any) -> None:
        pass


@pytest.mark.parametrize("collecting", [True, False])
def test_no_garbage_is_looked_for_while_a_kernel_is_compiled(collecting: bool) -> None:
    @njit()
    def halved(number: Any) -> Any:
        return number // 2

    listener = Collecting()
    if not collecting:
        gc.disable()
    try:
        with event.install_listener("numba:compile", listener):
            assert halved(8) == 4
        assert listener.seen == [False]
        assert gc.isenabled() is collecting
    finally:
        gc.enable()


def test_garbage_is_looked_for_again_when_a_kernel_cannot_be_compiled() -> None:
    @njit()
    def wrong(number: Any) -> Any:
        return number.nothing_of_that_name

    with pytest.raises(Exception, match="nothing_of_that_name"):
        wrong(8)
    assert gc.isenabled()

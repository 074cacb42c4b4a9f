"""A manifest's optional entries: each is of its type or left out."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from dominozoo.bots.archive import MANIFEST, BundleError, read_members
from dominozoo.bots.bundle import Bundle, bundle_of, load_bot
from dominozoo.bots.levels import NAMES
from dominozoo.bots.manifest import OPTIONAL
from dominozoo.bots.shipping import shipped_games, shipped_path
from dominozoo.rules import parse

# What is checked elsewhere, since no bundle goes without.
NEEDED = {
    *("format", "min_reader", "id", "version", "licence", "files"),
    *("game.name", "game.text", "game.rules", "game.rules_sha256"),
    *("observation.layout", "observation.version", "observation.fields"),
    *("actions.table", "actions.count", "select.default"),
    *("network.architecture", "network.ends", "network.seats"),
    *(f"levels.{level}.{name}" for level in NAMES for name in ("blunder", "temperature")),
}


def changed(change: Callable[[dict[str, Any]], None]) -> Bundle:
    """The Block bundle with another manifest."""
    path = shipped_path("block")
    assert path is not None
    members = read_members(path)
    manifest = json.loads(members[MANIFEST])
    change(manifest)
    return bundle_of({**members, MANIFEST: json.dumps(manifest).encode()}, "x.dombot")


def test_a_manifest_that_was_only_written_anew_is_read() -> None:
    assert changed(lambda m: None).rules == parse("block")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.update(goal=3), "goal must be a text"),
        (lambda m: m.update(made_with=["dominozoo"]), "made_with must be a text"),
        (lambda m: m.update(source="self-play"), "source must be an object"),
        (lambda m: m["source"].update(goal=3), "source.goal must be a text"),
        (lambda m: m["source"].update(decisions=True), "source.decisions must be a whole number"),
        (lambda m: m["value"].update(unit=1), "value.unit must be a text"),
        (lambda m: m["tolerance"].update(vectors="1e-5"), "tolerance.vectors must be a number"),
        (lambda m: m["select"].update(greedy=None, sampled=1), "select.sampled must be a text"),
        (lambda m: m.update(strength="good"), "strength must be a list or an object"),
        (
            lambda m: m["strength"][1].update(win_rate="high"),
            "strength[1].win_rate must be a number",
        ),
        (lambda m: m["strength"].append(None), "strength[6] must be an object"),
        (lambda m: m["onnx"].update(operators="Add"), "onnx.operators must be a list"),
        (
            lambda m: m["tensors"]["inputs"][0].update(shape=["batch", 1.5]),
            "tensors.inputs[0].shape[1] must be a whole number or a text",
        ),
        (
            lambda m: m["levels"]["easy"].update(strength="weak"),
            "levels.easy.strength must be 'not measured' or a list",
        ),
        (
            lambda m: m["levels"]["hard"]["strength"][0].update(games=1.5),
            "levels.hard.strength[0].games must be a whole number",
        ),
    ],
)
def test_an_optional_entry_of_a_wrong_type_is_refused_by_its_name(
    change: Callable[[dict[str, Any]], None], words: str
) -> None:
    with pytest.raises(BundleError) as caught:
        changed(change)
    assert str(caught.value) == f"x.dombot: {MANIFEST}: {words}"


@pytest.mark.parametrize("name", ["goal", "strength", "source", "levels", "value", "made_with"])
def test_an_optional_entry_may_be_null_or_missing(name: str) -> None:
    changed(lambda manifest: manifest.update({name: None}))
    changed(lambda manifest: manifest.pop(name))


def unknown(found: Any, kind: Any, place: str) -> list[str]:
    """The entries of a manifest that no type is given for."""
    if not isinstance(found, dict | list):
        return []
    if isinstance(kind, tuple):
        kind = next(one for one in kind if isinstance(one, type(found)))
    if isinstance(found, list):
        return [name for entry in found for name in unknown(entry, kind[0], place)]
    rest = [(f"{place}.{name}".lstrip("."), name) for name in found]
    return [
        lost
        for whole, name in rest
        for lost in (unknown(found[name], kind[name], whole) if name in kind else [whole])
    ]


@pytest.mark.parametrize("game", shipped_games())
def test_every_entry_of_a_bundle_that_ships_has_its_type(game: str) -> None:
    assert not set(unknown(load_bot(game).bundle.manifest, OPTIONAL, "")) - NEEDED

"""Golden games: what they show, that the engine comes to the same, and that wrong ones fail."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dominozoo.bots.archive import GAMES, MANIFEST, read_members
from dominozoo.bots.bundle import bundle_of, load_bot, read_bundle
from dominozoo.bots.manifest import shape_of
from dominozoo.bots.network import Network
from dominozoo.notation import record_of
from dominozoo.rules import parse
from dominozoo_training.cli import app
from dominozoo_training.export import games as golden
from dominozoo_training.export.packing import entry, pack
from dominozoo_training.export.replaying import mistakes
from dominozoo_training.policy.checkpoint import Policy

Json = dict[str, Any]


@pytest.fixture(scope="module")
def members(exported: Path) -> dict[str, bytes]:
    return read_members(exported)


@pytest.fixture
def lines(members: dict[str, bytes]) -> list[Json]:
    return [json.loads(line) for line in members[GAMES].splitlines()]


def read(members: dict[str, bytes], lines: list[Json]) -> list[golden.Golden]:
    """Games that somebody wrote, as the reader takes them."""
    data = b"\n".join(json.dumps(line).encode() for line in lines)
    manifest = json.loads(members[MANIFEST])
    changed = {**members, GAMES: data}
    manifest["files"] = {k: entry(v) for k, v in changed.items() if k != MANIFEST}
    bundle = bundle_of({**changed, MANIFEST: json.dumps(manifest).encode()}, "x.dombot")
    return golden.read_games(data, bundle)


# What they show.


@pytest.mark.parametrize(
    "game", ["draw(players=3)", "partnership", "chiva", "french", "cutthroat(players=3)", "truc"]
)
def test_games_of_every_family_come_out(game: str, make_policy: Callable[[str], Policy]) -> None:
    policy = make_policy(game)
    weights = {name: weight.numpy() for name, weight in policy.network.state_dict().items()}
    reader = Network(weights, shape_of(policy.rules, policy.network.encoder.sizes))
    found = golden.golden_games(policy.rules, reader)
    assert len(found) >= 3
    assert not [words for one in found for words in mistakes(one, policy.rules)]
    shown = set().union(*(golden.traits(one.record) for one in found))
    kinds = {trait[0] for trait in shown}
    assert {"play", "reason", "hand"} <= kinds
    assert ("pass" in kinds) == (game != "truc")
    assert ("draw" in kinds) == (game == "draw(players=3)")
    assert game != "truc" or {"propose", "accept", "redeal", "double", "reveal"} <= kinds
    assert found[0].record[0]["start"]["hand_number"] == 1
    assert any(one.record[-1]["kind"] == "match_end" for one in found)
    reasons = {trait[1] for trait in shown if trait[0] == "reason"}
    assert ("void" in reasons) == (game == "truc")
    winners = [len(line["winners"]) for one in found for line in one.record if "winners" in line]
    assert (max(winners) > 1) == (game == "french")
    assert {view["seat"] for one in found for view in one.views} == set(range(policy.rules.players))


def test_what_hardly_ever_comes_up_is_set_up() -> None:
    def ends(text: str, kind: str) -> list[Json]:
        records = [record_of(golden.play_again(p)) for p in golden.rarities(parse(text), seed=1)]
        return [line for record in records for line in record if line["kind"] == kind]

    for text in ("truc", "truc(max_redeals=0)", "truc(target=3)"):
        found = [(end["reason"], end["points"]) for end in ends(text, "hand_end")]
        assert found == [("void", 0), ("tricks", 16), ("tricks", 32)]
    assert [len(end["winners"]) for end in ends("french", "match_end")] == [3]
    assert not golden.rarities(parse("french(target=1)"), seed=1)
    assert not golden.rarities(parse("block"), seed=1)


def test_a_match_of_one_hand_has_games_too(make_policy: Callable[[str], Policy]) -> None:
    rules = parse("six_love(target=1)")
    found = golden.choose(golden.candidates(rules, seed=1)[:40])
    assert len(found) >= 3
    assert all(played.start["hand_number"] == 1 for played in found)


def test_a_bundles_games_are_played_as_its_bot_sees_them(exported: Path) -> None:
    bundle, bot = read_bundle(exported), load_bot(exported)
    for one in golden.read_games(bundle.members[GAMES], bundle):
        decisions = one.decisions
        found = bot.probabilities(decisions.observation, decisions.mask)
        assert abs(found - decisions.probabilities).max() < 1e-5
        assert all("hands" not in view and "boneyard" not in view for view in one.views)


# What fails.


def at(lines: list[Json], *path: Any) -> Json:
    found: Any = lines
    for key in path:
        found = found[key]
    assert isinstance(found, dict)
    return found


def hand_end(lines: list[Json]) -> Json:
    return next(line for line in lines[0]["record"] if line["kind"] == "hand_end")


def next_hand(lines: list[Json]) -> Json:
    return next(line for line in lines[0]["record"] if line["kind"] == "hand")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: at(x, 0, "decisions", 3, "view").update(sizes=[9, 9]), "decision 3: view.sizes"),
        (lambda x: at(x, 0, "decisions", 3, "view").update(extra=1), "decision 3: view.extra"),
        (lambda x: at(x, 0, "decisions", 3, "view").update(odd=None), "decision 3: view.odd"),
        (lambda x: at(x, 0, "decisions", 3, "view").pop("scores"), "decision 3: view.scores"),
        (lambda x: at(x, 0, "decisions", 4).update(action=57), "action and at"),
        (lambda x: at(x, 0, "decisions", 4).update(at=2), "action and at"),
        (lambda x: x[0]["decisions"].pop(), "action and at"),
        (lambda x: x[0]["record"].insert(1, {"kind": "draw"}), "the record: line 2: kind"),
        (lambda x: hand_end(x).update(points=99), "the record: line"),
        (lambda x: next_hand(x)["hands"][0].reverse(), "the record: line"),
        (lambda x: at(x, 0, "record", 0).update(rules=None), "of another game"),
        (lambda x: at(x, 0, "record", 0).update(game="draw_v0"), "of another game"),
        (lambda x: at(x, 0, "record", 0).update(max_hands="x"), "the record: line 1: max_hands"),
        (lambda x: at(x, 0, "record", 0, "start").update(hands=[1]), "the record: line 1: start"),
        (lambda x: at(x, 0, "record", 0, "start").update(rng={"seed": 5}), "the record: line 1"),
        (lambda x: x[0].update(record=[]), "of another game"),
        (lambda x: x[0]["end"]["views"].reverse(), "end.views"),
    ],
)
def test_a_wrong_game_is_found(
    change: Callable[[list[Json]], object],
    words: str,
    members: dict[str, bytes],
    lines: list[Json],
) -> None:
    assert not list(mistakes(read(members, lines)[0], parse("block")))
    change(lines)
    found = list(mistakes(read(members, lines)[0], parse("block")))
    assert words in found[0]


def test_a_wrong_observation_or_mask_is_found(members: dict[str, bytes], lines: list[Json]) -> None:
    right = lines[0]["decisions"]
    k = next(k for k, decision in enumerate(right) if sum(decision["mask"]) > 1)
    right[k]["observation"][90] ^= 1
    other = right[k]["mask"]
    found = list(mistakes(read(members, lines)[0], parse("block")))
    assert found == [f"decision {k}: observation[90] is not what the view shows"]
    right[k]["observation"][90] ^= 1
    other[other.index(1)] = 0
    right[k]["probabilities"].pop()
    found = list(mistakes(read(members, lines)[0], parse("block")))
    assert found == [f"decision {k}: the mask is not the legal moves"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda x: x.clear(), "0 games; 3..64 are taken"),
        (lambda x: x.extend([x[0]] * 64), "games; 3..64 are taken"),
        (lambda x: x[1].update(record=7), "game 1: record must be a list of objects"),
        (lambda x: x[1].update(record=[1]), "game 1: record must be a list of objects"),
        (lambda x: x[1].pop("decisions"), "game 1: decisions must be a list of objects"),
        (lambda x: x[1].update(decisions=[]), "game 1: 0 decisions; 1..4096 are taken"),
        (lambda x: x[1].update(end=[]), "game 1: views must be a list of objects"),
        (lambda x: x[1]["decisions"][2].update(at=1.5), "at of a decision must be a whole number"),
        (lambda x: x[1]["decisions"][2].pop("action"), "action of a decision must be a whole"),
        (lambda x: x[1]["decisions"][2].update(view=None), "every decision needs a view"),
        (lambda x: x[1]["decisions"][2].update(view=[]), "decision 2: view must be an object"),
        (lambda x: x[1]["decisions"][2].update(mask=[1]), "decision 2: mask must be a list of 58"),
        (lambda x: x[1]["decisions"][2].update(value="1"), "value a number"),
        (lambda x: x[1]["decisions"][2].update(probabilities=[2]), "game 1: decision 2: prob"),
        (lambda x: x.insert(0, []), "game 0: it must be an object"),
    ],
)
def test_games_that_cannot_be(
    change: Callable[[list[Any]], object],
    words: str,
    members: dict[str, bytes],
    lines: list[Json],
) -> None:
    change(lines)
    with pytest.raises(ValueError, match=GAMES) as caught:
        read(members, lines)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def verify(path: Path, members: dict[str, bytes]) -> tuple[int, str]:
    manifest = json.loads(members[MANIFEST])
    manifest["files"] = {k: entry(v) for k, v in members.items() if k != MANIFEST}
    path.write_bytes(pack({**members, MANIFEST: json.dumps(manifest).encode()}))
    result = CliRunner().invoke(app, ["verify", str(path)])
    assert "Traceback" not in result.output
    return result.exit_code, result.output


def test_an_older_bundle_is_read_and_what_it_lacks_is_told(
    members: dict[str, bytes], tmp_path: Path
) -> None:
    older = {name: data for name, data in members.items() if name != GAMES}
    manifest = json.loads(older[MANIFEST])
    for key in ("levels", "goal"):
        del manifest[key]
    path = tmp_path / "older.dombot"
    code, output = verify(path, {**older, MANIFEST: json.dumps(manifest).encode()})
    assert (code, output.count("FAIL")) == (0, 0)
    assert "games.jsonl is missing: golden games are not checked" in output
    assert load_bot(path).bundle.levels["easy"] == (0.6, 0)


def test_verify_tells_of_wrong_and_of_broken_games(
    members: dict[str, bytes], lines: list[Json], tmp_path: Path
) -> None:
    told = lines[2]["decisions"][0]
    told["probabilities"][0] -= 2e-4
    data = b"\n".join(json.dumps(line).encode() for line in lines)
    code, output = verify(tmp_path / "bot.dombot", {**members, GAMES: data})
    assert code == 1
    assert output.count("1 decisions FAIL: game 2, decision 0 is off by 2.0e-04") == 3
    code, output = verify(tmp_path / "bot.dombot", {**members, GAMES: b"{\n" * 4})
    assert code == 2
    assert "games.jsonl: game 0 is not valid" in output
    assert len(output.strip().splitlines()) == 1

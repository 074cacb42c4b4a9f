"""The reader of exported bots: what it plays, and what it refuses. Nothing but the base is needed."""

import hashlib
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import dominozoo
from dominozoo import block_v0
from dominozoo.bots import bundle as reader
from dominozoo.bots.archive import LIMITS, MANIFEST, REQUIRED, VECTORS, WEIGHTS, read_weights
from dominozoo.bots.bundle import Bot, BundleError, load_bot
from dominozoo.bots.levels import draw
from dominozoo.bots.manifest import field_table, rules_sha256
from dominozoo.bots.network import ARCHITECTURE, Shape
from dominozoo.bots.shipping import shipped_games
from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import pack_line, parse
from dominozoo.tables import Tables
from dominozoo.tiles import TILE_COUNT

Tensors = dict[str, npt.NDArray[np.float32]]


def safetensors(tensors: dict[str, npt.NDArray[Any]], **changes: Any) -> bytes:
    """The bytes of a safetensors file; ``changes`` go into the header's first entry."""
    header: dict[str, Any] = {}
    body = b""
    for name, values in sorted(tensors.items()):
        data = values.tobytes()
        dtype = {"float32": "F32", "float16": "F16"}[values.dtype.name]
        offsets = [len(body), len(body) + len(data)]
        header[name] = {"dtype": dtype, "shape": list(values.shape), "data_offsets": offsets}
        body += data
    header[min(header)].update(changes)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def weights(shape: Shape) -> Tensors:
    """Weights of a small network."""
    rng = np.random.default_rng(4)
    tensors: Tensors = {}
    value_inputs = shape.state_columns + (7 + shape.ends) * shape.number_columns
    for name, inputs in (
        ("score", shape.action_columns + shape.state_columns),
        ("worth", value_inputs),
    ):
        for layer, (wide, out) in {0: (inputs, 8), 2: (8, 1)}.items():
            scale = wide**-0.5
            tensors[f"{name}.{layer}.weight"] = rng.normal(0, scale, (out, wide)).astype(np.float32)
            tensors[f"{name}.{layer}.bias"] = rng.normal(0, 0.1, out).astype(np.float32)
    return tensors


def contents(game: str = "block") -> dict[str, bytes]:
    """The members of a sound bundle, but for the manifest's ``files``."""
    rules = parse(game)
    ends = int(pack_line(rules)[0]["ends"])
    shape = Shape(ends, rules.players)
    manifest = {
        "format": "dombot/1",
        "min_reader": 1,
        "id": "test",
        "version": "1",
        "licence": "Apache-2.0",
        "game": {
            "name": rules.game,
            "text": str(rules),
            "rules": rules.options,
            "rules_sha256": rules_sha256(rules),
        },
        "observation": {
            "layout": LINE_LAYOUT.name,
            "version": LINE_LAYOUT.version,
            "fields": field_table(LINE_LAYOUT),
        },
        "actions": {"table": "line/1", "count": ends * TILE_COUNT + 2},
        "network": {"architecture": ARCHITECTURE, "ends": ends, "seats": rules.players},
    }
    members = {name: b"not read here" for name in REQUIRED}
    members[WEIGHTS] = safetensors(dict(weights(shape)))
    members[MANIFEST] = json.dumps(manifest).encode()
    return members


def summed(members: dict[str, bytes]) -> dict[str, bytes]:
    """Members with right checksums in the manifest."""
    manifest = json.loads(members[MANIFEST])
    manifest["files"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
        if name != MANIFEST
    }
    return {**members, MANIFEST: json.dumps(manifest).encode()}


def write(path: Path, members: dict[str, bytes], packing: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound bundle for Block."""
    return write(tmp_path / "bot.dombot", summed(contents()), zipfile.ZIP_DEFLATED)


@pytest.fixture
def bot(path: Path) -> Bot:
    return load_bot(path)


def positions(game: str = "block", steps: int = 30) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    tables, rng = Tables(game, 16, seed=2), np.random.default_rng(0)
    seen = []
    for _ in range(steps):
        seen.append((tables.observation.copy(), tables.mask.copy()))
        tables.step((tables.mask * rng.random(tables.mask.shape)).argmax(axis=1))
    observations, masks = zip(*seen, strict=True)
    return np.concatenate(observations), np.concatenate(masks)


# What it plays.


def test_a_bundle_is_read_by_the_package(path: Path) -> None:
    bot = dominozoo.load_bot(path)
    assert (bot.id, bot.version, str(bot.rules)) == ("test", "1", "block")
    assert repr(bot) == "Bot('test', 'block')"
    with pytest.raises(AttributeError, match="load_bott"):
        _ = dominozoo.load_bott


@pytest.mark.parametrize("game", ["block", "draw(players=3)", "partnership(poser=team)", "french"])
def test_chances_are_those_of_the_legal_actions(game: str, tmp_path: Path) -> None:
    bot = load_bot(write(tmp_path / "bot.dombot", summed(contents(game))))
    observation, mask = positions(game)
    chances, value = bot.evaluate(observation, mask)
    assert (chances.dtype.name, chances.shape) == ("float32", mask.shape)
    assert (value.dtype.name, value.shape) == ("float32", (len(mask),))
    assert not chances[mask == 0].any()
    assert (chances[mask == 1] > 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1, atol=1e-6)
    assert chances.max(axis=1).std() > 0.01  # it makes a difference where it is
    assert value.std() > 0.01


def test_one_position_alone_is_as_in_a_batch(bot: Bot) -> None:
    observation, mask = positions()
    chances, value = bot.evaluate(observation, mask)
    for k in range(0, len(mask), 17):
        np.testing.assert_allclose(
            bot.probabilities(observation[k], mask[k]), chances[k], atol=1e-6
        )
        np.testing.assert_allclose(bot.value(observation[k]), value[k], atol=1e-6)
    np.testing.assert_allclose(bot.probabilities(observation, mask), chances, atol=1e-6)
    np.testing.assert_allclose(bot.value(observation), value, atol=1e-6)


def test_it_plays_a_match_behind_pettingzoo(bot: Bot) -> None:
    env = block_v0.env()
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    moves = 0
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        assert observation is not None
        over = terminated or truncated
        greedy = agent == "player_0"
        action = None if over else bot.act(observation, greedy=greedy, rng=rng)
        assert over or isinstance(action, int)
        env.step(action)
        moves += not over
    assert moves > 10


def test_greedy_takes_the_most_probable_action(bot: Bot) -> None:
    observation, mask = positions()
    chosen = bot.act(observation, mask)
    assert (chosen == bot.probabilities(observation, mask).argmax(axis=1)).all()
    assert isinstance(bot.act(observation[0], mask[0]), int)


def test_drawn_actions_follow_the_chances(bot: Bot) -> None:
    observation, mask = positions()
    k = int(np.argmax(mask.sum(axis=1)))
    many = np.repeat(observation[k : k + 1], 4000, 0), np.repeat(mask[k : k + 1], 4000, 0)
    drawn = bot.act(*many, greedy=False, rng=np.random.default_rng(3))
    share = np.bincount(drawn, minlength=mask.shape[1]) / 4000
    np.testing.assert_allclose(share, bot.probabilities(observation[k], mask[k]), atol=0.03)


def test_drawing_is_the_inverse_of_the_sums() -> None:
    chances = np.array([[0, 0.25, 0, 0.75]], np.float32).repeat(4, 0)
    assert draw(chances, np.array([0.0, 0.2499, 0.25, 0.9999])).tolist() == [1, 1, 3, 3]


def test_half_precision_weights_are_read(tmp_path: Path) -> None:
    members = contents()
    halves = {k: v.astype(np.float16) for k, v in weights(Shape(2, 2)).items()}
    members[WEIGHTS] = safetensors(halves)
    bot = load_bot(write(tmp_path / "half.dombot", summed(members)))
    observation, mask = positions()
    whole = load_bot(write(tmp_path / "whole.dombot", summed(contents())))
    off = np.abs(bot.probabilities(observation, mask) - whole.probabilities(observation, mask))
    assert 0 < off.max() < 2e-3


def test_it_needs_neither_torch_nor_the_extras_nor_much_memory(path: Path, tmp_path: Path) -> None:
    code = f"""
import resource, sys
sys.modules.update(dict.fromkeys(["torch", "safetensors", "onnx", "onnxruntime", "pydantic"]))
import numpy as np, dominozoo, dominozoo.bots
from dominozoo.tables import Tables
tables = Tables("block", 8, seed=1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
bot = dominozoo.load_bot({str(path)!r})
for _ in range(50):
    tables.step(bot.act(tables.observation, tables.mask))
    bot.act(tables.observation[0], tables.mask[0])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) < 40 << 10  # KiB on Linux, bytes on macOS: then far stricter


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda o, m: (o[:, :-1], m), r"observation must be integers of shape \(..., 178\)"),
        (lambda o, m: (o, m[:, :-1]), r"mask must be integers of shape \(..., 58\)"),
        (lambda o, m: (o.astype(float), m), "not float64"),
        (lambda o, m: (o, m * 0), "not to move"),
        (lambda o, m: (o[:3], m), "3 observations but"),
        (lambda o, m: (o * 0 - 1, m), r"observation\[0\] is out of range 0..1"),
        (lambda o, m: (o[0], None), "needs a mask"),
    ],
)
def test_wrong_arguments_are_refused(
    bot: Bot, change: Callable[[Any, Any], tuple[Any, Any]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        bot.act(*change(*positions(steps=1)))


@pytest.mark.parametrize(
    ("mine", "other", "words"),
    [
        ("block", "draw", "draw is 1, but 0 in block for 2 players"),
        ("block", "block(players=3)", "players is 3, but 2 in block for 2 players"),
        ("block", "partnership", "players is 4, but 2 in"),
        ("draw(players=4)", "block(players=4)", "draw is 0, but 1 in draw for 4 players"),
        ("six_love", "cutthroat", "tie is 0, but 3 in six_love"),
        ("partnership", "chiva", "pair_totals is 1, but 0 in partnership"),
        ("cutthroat(players=2)", "block", "always_by_rule is 1, but 0 in cutthroat"),
    ],
)
def test_another_games_observation_is_refused(
    mine: str, other: str, words: str, tmp_path: Path
) -> None:
    bot = load_bot(write(tmp_path / "bot.dombot", summed(contents(mine))))
    seen, mask = positions(other)
    for call in (
        lambda: bot.act(seen, mask),
        lambda: bot.act({"observation": seen[0], "action_mask": mask[0]}),
        lambda: bot.evaluate(seen, mask),
        lambda: bot.value(seen),
    ):
        with pytest.raises(ValueError, match=f"observation: {words}"):
            call()


@pytest.mark.parametrize(
    ("mine", "other"),
    [
        ("block", "block(target=7)"),
        ("partnership", "partnership(opening=informal, tie=escalate, decider=True, key_card=True)"),
        ("partnership(poser=team)", "partnership"),
        ("cutthroat(players=3)", "cutthroat(players=3, broken=leader_loss, bruck=end, tie=void)"),
    ],
)
def test_other_options_of_its_game_are_played(mine: str, other: str, tmp_path: Path) -> None:
    bot = load_bot(write(tmp_path / "bot.dombot", summed(contents(mine))))
    seen, mask = positions(other)
    assert mask[np.arange(len(mask)), bot.act(seen, mask)].all()


def test_drawing_needs_a_generator(bot: Bot) -> None:
    observation, mask = positions(steps=1)
    with pytest.raises(ValueError, match="needs rng"):
        bot.act(observation, mask, greedy=False)
    seed: Any = 3
    with pytest.raises(ValueError, match="rng must be a NumPy generator, not 3"):
        bot.act(observation, mask, greedy=False, rng=seed)


def test_a_mask_that_does_not_fit_the_observation_does_no_harm(bot: Bot) -> None:
    observation, mask = positions()
    chances, _ = bot.evaluate(observation, np.ones_like(mask))
    assert np.isfinite(chances).all()


# What it refuses: files.


@pytest.mark.parametrize("path", [5, True, None, 0.5, b"block"])
def test_what_is_no_path_is_not_opened(path: Any) -> None:
    with pytest.raises(TypeError, match=r"load_bot takes .*\(block, .*\) or the path .*, not "):
        load_bot(path)
    with pytest.raises(TypeError, match="a bundle's path must be a text or a path, not "):
        reader.read_bundle(path)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("BLOCK", " (did you mean 'block'?)"),
        ("mexican_train", ""),
        ("block(", " (did you mean 'block'?)"),
        ("partnership(tie='escalate')", " (did you mean 'partnership'?)"),
        ("block(target=3)", " (did you mean 'block(players=3)'?)"),
        ("blok", " (did you mean 'block'?)"),
    ],
)
def test_a_name_under_which_none_ships(name: str, hint: str) -> None:
    shipped = ", ".join(shipped_games())
    assert "block" in shipped
    assert refused(Path(name)) == (
        f"no bot ships as {name!r}{hint}, and there is no such file: "
        f"name one of those that ship ({shipped}), or the path of a .dombot file"
    )


def refused(path: Path) -> str:
    """The one line with which a file is refused."""
    with pytest.raises(BundleError) as caught:
        load_bot(path)
    text = str(caught.value)
    assert "\n" not in text
    assert path.name in text
    return text


def test_a_missing_file(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.dombot")
    assert "cannot read" in refused(tmp_path)


def test_no_zip(tmp_path: Path) -> None:
    (tmp_path / "text.dombot").write_text("hello")
    assert "not a zip" in refused(tmp_path / "text.dombot")


def test_a_file_that_is_cut_anywhere(path: Path) -> None:
    data = path.read_bytes()
    for length in range(0, len(data), 97):
        path.write_bytes(data[:length])
        assert "truncated" in (text := refused(path)) or "not a zip" in text


@pytest.mark.parametrize("name", REQUIRED)
def test_a_member_that_is_missing(name: str, tmp_path: Path) -> None:
    members = summed(contents())
    del members[name]
    assert f"{name} is missing" in refused(write(tmp_path / "bot.dombot", members))


@pytest.mark.parametrize("name", [name for name in REQUIRED if name != MANIFEST])
def test_a_member_that_was_tampered_with(name: str, tmp_path: Path) -> None:
    members = summed(contents())
    data = bytearray(members[name])
    data[len(data) // 2] ^= 1
    members[name] = bytes(data)
    assert f"{name} is not the file" in refused(write(tmp_path / "bot.dombot", members))


def test_a_manifest_that_was_tampered_with(tmp_path: Path) -> None:
    members = summed(contents())
    members[MANIFEST] = members[MANIFEST].replace(b'"target": 100', b'"target": 101')
    assert "rules_sha256" in refused(write(tmp_path / "bot.dombot", members))


def test_a_member_that_no_checksum_covers(tmp_path: Path) -> None:
    members = {**summed(contents()), "NOTICE": b"x"}
    assert "disagree about 'NOTICE'" in refused(write(tmp_path / "bot.dombot", members))


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/passwd", "a\\b", "policy.py", "__init__.py", "Manifest.json", "x/"]
)
def test_names_that_are_none_of_a_bundles(name: str, tmp_path: Path) -> None:
    members = {**summed(contents()), name: b"x"}
    assert "unexpected entry" in refused(write(tmp_path / "bot.dombot", members))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["bot.dombot"]


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_an_entry_that_stands_twice(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(VECTORS, b"others")
    assert f"{VECTORS} stands twice" in refused(path)


def test_too_many_entries(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        for k in range(20):
            archive.writestr(f"x{k}", b"")
    assert "at most 16" in refused(path)


def test_a_link(path: Path) -> None:
    info = zipfile.ZipInfo("NOTICE")
    info.create_system, info.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "/etc/passwd")
    assert "NOTICE is a link" in refused(path)


def test_an_encrypted_entry(path: Path) -> None:
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    path.write_bytes(bytes(data))
    assert "is encrypted" in refused(path)


def test_another_packing(path: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.dombot", "w", zipfile.ZIP_LZMA) as archive:
        for name, content in summed(contents()).items():
            archive.writestr(name, content)
    assert "store and deflate" in refused(tmp_path / "b.dombot")


def test_a_zip_bomb(tmp_path: Path) -> None:
    members = summed({**contents(), VECTORS: bytes(LIMITS[VECTORS])})
    packed = write(tmp_path / "ratio.dombot", members, zipfile.ZIP_DEFLATED)
    assert "times its packed size" in refused(packed)
    members = summed({**contents(), VECTORS: bytes(LIMITS[VECTORS] + 1)})
    assert "are allowed" in refused(write(tmp_path / "size.dombot", members))


def test_a_zip_that_lies_about_a_size(tmp_path: Path) -> None:
    members = summed({**contents(), VECTORS: np.random.default_rng(0).bytes(1 << 16)})
    packed = write(tmp_path / "bot.dombot", members, zipfile.ZIP_DEFLATED)
    data = bytearray(packed.read_bytes())
    at = data.index(VECTORS.encode(), data.index(b"PK\x01\x02")) - 46
    data[at + 24 : at + 28] = (1 << 10).to_bytes(4, "little")
    (tmp_path / "bot.dombot").write_bytes(bytes(data))
    assert "bot.dombot" in refused(tmp_path / "bot.dombot")


def test_a_file_beyond_any_limit(tmp_path: Path) -> None:
    with (tmp_path / "big.dombot").open("wb") as file:
        file.truncate((40 << 20) + 1)
    assert "larger than 40 MiB" in refused(tmp_path / "big.dombot")


def test_random_damage_is_always_one_clear_error(path: Path) -> None:
    data, rng = path.read_bytes(), np.random.default_rng(8)
    reasons = []
    for _ in range(400):
        damaged = bytearray(data)
        for _ in range(int(rng.integers(1, 6))):
            damaged[int(rng.integers(len(data)))] = int(rng.integers(256))
        path.write_bytes(bytes(damaged))
        try:
            load_bot(path)  # some bytes of a zip mean nothing
        except BundleError as error:
            reasons.append(str(error))
    assert len(reasons) > 300
    assert not [reason for reason in reasons if "\n" in reason]


# What it refuses: manifests.


def changed(section: str | None, **changes: Any) -> Callable[[dict[str, Any]], None]:
    def change(manifest: dict[str, Any]) -> None:
        (manifest[section] if section else manifest).update(changes)

    return change


def other_fields(manifest: dict[str, Any]) -> None:
    manifest["observation"]["fields"][3]["offset"] += 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (changed(None, format="dombot/2"), "a newer dominozoo is needed"),
        (changed(None, format="zip"), "format must be dombot/1"),
        (changed(None, min_reader=3), "needs reader 3, this is 2: a newer dominozoo"),
        (changed(None, min_reader="1"), "min_reader must be"),
        (changed(None, licence=""), "licence must be a text"),
        (changed(None, game=[]), "game must be an object"),
        (changed(None, files=[]), "files must be an object"),
        (changed("game", name="chess"), "a game that this version doesn't know: unknown game"),
        (changed("game", rules={"players": 9, "target": 100}), "doesn't know: block: players=9"),
        (changed("game", rules={"players": 2}), "rules_sha256"),
        (changed("game", rules_sha256="0" * 64), "rules_sha256"),
        (changed("game", text="draw"), "game.text is not 'block'"),
        (changed("observation", version=2), "reads observation line/2, this version makes line/1"),
        (changed("observation", layout="truc"), "reads observation truc/1"),
        (changed("observation", fields=None), "observation.fields"),
        (other_fields, "observation.fields"),
        (changed("actions", table="line/2"), "its actions are 'line/2'"),
        (changed("actions", count=114), "with 58"),
        (changed("network", architecture="transformer/9"), "its network is 'transformer/9'"),
        (changed("network", ends=4), "network.ends"),
        (changed("network", seats=7), "network.seats"),
        (changed("network", seats=True), "network.seats"),
        (changed("network", seats=3), "layer score.0 must take"),
    ],
)
def test_a_manifest_that_does_not_fit(
    change: Callable[[dict[str, Any]], None], words: str, tmp_path: Path
) -> None:
    members = summed(contents())
    manifest = json.loads(members[MANIFEST])
    change(manifest)
    members[MANIFEST] = json.dumps(manifest).encode()
    assert words in refused(write(tmp_path / "bot.dombot", members))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"{", "not valid"),
        (b"[1]", "must be an object"),
        (b"\xff\xfe", "not valid"),
        (b'{"a": NaN}', "no JSON number"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b"[" * 5000, "deeper than 12"),
        (b'{"a": "[[[[[[[[[[[[[[[[[[[["}', "format must be"),
        (b'{"format": ' + b"9" * 5000 + b"}", "not valid"),
    ],
    ids=["cut", "list", "no-text", "nan", "twice", "deep", "brackets-in-text", "long-number"],
)
def test_a_manifest_that_is_no_sound_json(text: bytes, words: str, tmp_path: Path) -> None:
    members = {**summed(contents()), MANIFEST: text}
    assert words in refused(write(tmp_path / "bot.dombot", members))


def test_unknown_entries_of_a_manifest_are_ignored(tmp_path: Path) -> None:
    members = summed(contents())
    manifest = {**json.loads(members[MANIFEST]), "mood": "good"}
    members[MANIFEST] = json.dumps(manifest).encode()
    load_bot(write(tmp_path / "bot.dombot", members))


# What it refuses: weights.


def good() -> Tensors:
    return weights(Shape(2, 2))


def header_of(header: dict[str, Any] | list[Any], body: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "longer than the file"),
        ((1 << 40).to_bytes(8, "little"), "longer than the file"),
        (b"\xff" * 64, "longer than the file"),
        (header_of([]), "must be an object"),
        (header_of({"a": 1}), "needs dtype, shape and data_offsets"),
        (safetensors(dict(good()), dtype="I64"), "only F32 and F16"),
        (safetensors(dict(good()), dtype="BF16"), "only F32 and F16"),
        (safetensors(dict(good()), dtype=["F32"]), "only F32 and F16"),
        (safetensors(dict(good()), shape=[9]), "don't fit its shape"),
        (safetensors(dict(good()), shape=[-8]), "no lists of sizes"),
        (safetensors(dict(good()), shape=[1 << 70]), "no lists of sizes"),
        (safetensors(dict(good()), shape=[2, 2, 2, 1, 1]), "no lists of sizes"),
        (safetensors(dict(good()), data_offsets=[4, 36]), "overlaps, leaves a gap"),
        (safetensors(dict(good()), data_offsets=[0.0, 32.0]), "no lists of sizes"),
        (safetensors(dict(good())) + b"tail", "belong to no tensor"),
        (safetensors(dict(good()))[:-4], "ends outside"),
        (
            safetensors({**good(), "worth.2.bias": np.array([np.nan], np.float32)}),
            "not finite",
        ),
        (
            safetensors({**good(), "x.0.bias": np.zeros(1, np.float32)}),
            "unknown weights 'x.0.bias'",
        ),
        (safetensors({**good(), "score.x": np.zeros(1, np.float32)}), "unknown weights 'score.x'"),
        (safetensors({"score.0.bias": np.zeros(1, np.float32)}), "lacks its weight"),
        (
            safetensors({k.replace("score.2", "score.4"): v for k, v in good().items()}),
            "not numbered 0, 2, 4",
        ),
        (
            safetensors({**good(), "score.2.bias": np.zeros(2, np.float32)}),
            "layer score.2 must take 8",
        ),
    ],
)
def test_weights_that_lie(data: bytes, words: str, tmp_path: Path) -> None:
    members = summed({**contents(), WEIGHTS: data})
    assert words in refused(write(tmp_path / "bot.dombot", members))


def test_the_small_reader_reads_what_was_written() -> None:
    found = read_weights(safetensors(dict(good())))
    for name, values in good().items():
        np.testing.assert_array_equal(found[name], values)


def test_a_sound_bundle_in_another_order_of_entries(tmp_path: Path) -> None:
    members = summed(contents())
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(members, reverse=True):
            archive.writestr(name, members[name])
    (tmp_path / "bot.dombot").write_bytes(buffer.getvalue())
    assert load_bot(tmp_path / "bot.dombot").id == "test"

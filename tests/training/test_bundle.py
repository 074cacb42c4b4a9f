"""Bundles and the commands around them: export, verify, info, play."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from typer.testing import CliRunner, Result

from dominozoo.bots.archive import CARD, GAMES, GRAPH, MANIFEST, VECTORS, WEIGHTS, read_members
from dominozoo.bots.bundle import load_bot, read_bundle
from dominozoo.fields import LINE_LAYOUT
from dominozoo.tables import Tables
from dominozoo_training.cli import app
from dominozoo_training.export.describe import slug
from dominozoo_training.export.packing import ExportError, entry, pack, write_whole
from dominozoo_training.export.parity import check_bundle
from dominozoo_training.export.vectors import choose, play
from dominozoo_training.policy.checkpoint import Policy, describe_policy, policy_files
from dominozoo_training.policy.folders import write_folder

ENDS = LINE_LAYOUT.offset("ends")
RULES = {"players": 2, "target": 100}


def run(*words: str, text: str | None = None) -> Result:
    return CliRunner().invoke(app, list(words), input=text)


def repack(path: Path, members: dict[str, bytes]) -> Path:
    """Write members with right checksums: what a forger would do."""
    manifest = json.loads(members[MANIFEST])
    manifest["files"] = {k: entry(v) for k, v in members.items() if k != MANIFEST}
    path.write_bytes(pack({**members, MANIFEST: json.dumps(manifest).encode()}))
    return path


@pytest.fixture
def members(exported: Path) -> dict[str, bytes]:
    return read_members(exported)


# What is written.


def test_export_writes_a_bundle_that_verifies(policy: Policy, exported: Path) -> None:
    bundle = read_bundle(exported)
    report = check_bundle(bundle)
    assert set(report.vectors) == {"NumPy", "onnxruntime", "PyTorch", "views"}
    assert set(report.games) == {"NumPy", "onnxruntime", "PyTorch", "engine"}
    assert report.failed == ""
    runs = (*report.vectors.values(), *report.games.values())
    assert max(run.worst for run in runs) < 1e-5
    assert report.count[:2] >= (128, 3)
    assert exported.stat().st_size < 600_000
    assert bundle.rules == policy.rules


def test_the_manifest_says_what_an_integrator_needs(exported: Path) -> None:
    manifest = read_bundle(exported).manifest
    assert manifest["format"] == "dombot/1"
    assert manifest["game"]["rules"] == RULES
    assert manifest["observation"]["fields"][3]["name"] == "ends"
    assert manifest["actions"]["draw"] == 56
    assert manifest["onnx"]["opset"] == 15
    assert manifest["strength"] == {"vs hard": 0.5}
    assert "divided by the target" in manifest["value"]["unit"]
    assert set(manifest["files"]) == {GRAPH, WEIGHTS, VECTORS, GAMES, CARD}


def test_vectors_show_every_kind_of_position(policy: Policy, members: dict[str, bytes]) -> None:
    vectors = [json.loads(line) for line in members[VECTORS].splitlines()]
    assert len(vectors) == 128
    assert {v["view"]["phase"] for v in vectors} == {"pose", "play"}
    assert any(v["mask"][57] for v in vectors)  # a pass
    assert any(len(v["probabilities"]) > 3 for v in vectors)
    assert any(any(v["view"]["scores"]) for v in vectors)
    assert any(v["view"]["passes"] for v in vectors)
    for v in vectors:
        assert sum(v["probabilities"]) == pytest.approx(1, abs=1e-5)
        assert "hands" not in v["view"]


def test_chosen_cases_keep_their_order(policy: Policy) -> None:
    cases = play(policy.rules, 200, seed=1)
    some = choose(cases, 50)
    places = [next(k for k, case in enumerate(cases) if case is one) for one in some]
    assert places == sorted(places)
    assert len(set(places)) == 50


def test_the_same_contents_give_the_same_bytes(exported: Path, members: dict[str, bytes]) -> None:
    assert pack(members) == exported.read_bytes()
    assert pack(dict(reversed(members.items()))) == exported.read_bytes()


def test_nothing_is_pickled_and_no_path_is_told(members: dict[str, bytes]) -> None:
    for name, data in members.items():
        assert b"/home/" not in data, name
        assert data[:2] != b"\x80\x02", name


def test_a_game_as_a_name() -> None:
    from dominozoo.rules import parse

    assert slug(parse("draw(players=3)")) == "draw-players-3"


# Commands.


def test_export_verify_and_info_from_the_command_line(
    policy: Policy, exported: Path, tmp_path: Path
) -> None:
    write_folder(tmp_path / "p", policy_files(policy, describe_policy(policy, **policy.meta)))
    out = tmp_path / "bot.dombot"
    result = run("export", str(tmp_path / "p"), "--out", str(out), "--id", "me", "--version", "3")
    assert result.exit_code == 0, result.output
    assert "me" in result.output
    made, other = read_members(out), read_members(exported)
    for name in (GRAPH, WEIGHTS, VECTORS, GAMES):  # another process may have made the other
        assert made[name] == other[name], name
    result = run("verify", str(out))
    assert result.exit_code == 0, result.output
    assert result.output.count("all vectors are right") == 4
    assert result.output.count("all decisions are right") == 4
    shown = json.loads(run("info", str(out)).output)
    assert (shown["id"], shown["version"], shown["game"]["text"]) == ("me", "3", "block")
    before = out.read_bytes()
    result = run("export", str(tmp_path / "p"), "--out", str(out))
    assert result.exit_code == 2
    assert f"out: {out} exists: name another file, or replace it by --force" in result.output
    assert out.read_bytes() == before
    assert run("export", str(tmp_path / "p"), "--out", str(out), "--force").exit_code == 0
    assert out.read_bytes() != before


def test_the_command_runs_alone_without_torch(exported: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['torch'] = sys.modules['safetensors'] = None\n"
    code += f"sys.argv = ['dominozoo', 'verify', {str(exported)!r}]\n"
    code += "from dominozoo_training.cli import main; main()"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "onnxruntime: worst" in result.stdout


def test_without_onnxruntime_the_rest_is_verified(exported: Path, tmp_path: Path) -> None:
    code = "import sys; sys.modules['onnxruntime'] = sys.modules['onnx'] = None\n"
    code += f"sys.argv = ['dominozoo', 'verify', {str(exported)!r}]\n"
    code += "from dominozoo_training.cli import main; main()"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "policy.onnx was not run" in result.stdout


# Bundles that must not pass.


def refused(path: Path, code: int = 2) -> str:
    """What verify says of a bad bundle: one line, and the exit code."""
    result = run("verify", str(path))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    if code == 2:
        assert len(result.output.strip().splitlines()) == 1
    return result.output


def test_a_cut_bundle(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "cut.dombot").write_bytes(exported.read_bytes()[:-500])
    assert "truncated" in refused(tmp_path / "cut.dombot")
    assert "No such file" in refused(tmp_path / "none.dombot")


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS, VECTORS, GAMES, CARD])
def test_a_member_that_was_changed(name: str, members: dict[str, bytes], tmp_path: Path) -> None:
    data = bytearray(members[name])
    data[len(data) // 2] ^= 4
    (tmp_path / "bot.dombot").write_bytes(pack({**members, name: bytes(data)}))
    assert f"{name} is not the file" in refused(tmp_path / "bot.dombot")
    assert run("info", str(tmp_path / "bot.dombot")).exit_code == 2


def test_a_newer_format(members: dict[str, bytes], tmp_path: Path) -> None:
    newer = members[MANIFEST].replace(b"dombot/1", b"dombot/7")
    (tmp_path / "bot.dombot").write_bytes(pack({**members, MANIFEST: newer}))
    assert "a newer dominozoo is needed" in refused(tmp_path / "bot.dombot")


def foreign_operator(model: onnx.ModelProto) -> None:
    model.graph.node[-1].op_type = "Einsum"


def own_domain(model: onnx.ModelProto) -> None:
    model.graph.node[-1].domain = "com.example"


def control_flow(model: onnx.ModelProto) -> None:
    body = model.graph.node[-1].attribute.add()
    body.name, body.type, body.g.name = "body", onnx.AttributeProto.GRAPH, "inside"


def data_outside(model: onnx.ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    place = tensor.external_data.add()
    place.key, place.value = "location", "../secret"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (foreign_operator, "operator Einsum"),
        (own_domain, "operator com.example."),
        (control_flow, "with a graph inside"),
        (data_outside, "lies outside the file"),
    ],
)
def test_a_graph_that_is_more_than_arithmetic(
    change: Callable[[onnx.ModelProto], None],
    words: str,
    members: dict[str, bytes],
    tmp_path: Path,
) -> None:
    model = onnx.load_model_from_string(members[GRAPH])
    change(model)
    data = model.SerializeToString()
    path = repack(tmp_path / "bot.dombot", {**members, GRAPH: data})
    output = refused(path)
    assert "policy.onnx: " in output
    assert words in output


def test_forged_weights_fail_the_vectors(members: dict[str, bytes], tmp_path: Path) -> None:
    data = bytearray(members[WEIGHTS])
    middle = 8 + int.from_bytes(data[:8], "little") + 4 * 100
    data[middle : middle + 4000] = bytes(4000)
    path = repack(tmp_path / "bot.dombot", {**members, WEIGHTS: bytes(data)})
    output = refused(path, 1)
    assert "NumPy" in output
    assert "FAIL" in output


def test_a_manifest_cannot_loosen_the_tolerance(members: dict[str, bytes], tmp_path: Path) -> None:
    manifest = json.loads(members[MANIFEST])
    manifest["tolerance"] = {"readers": 1e9, "vectors": 1e9}
    data = members[VECTORS].replace(b'"value":0', b'"value":1')
    changed = {**members, MANIFEST: json.dumps(manifest).encode(), VECTORS: data}
    refused(repack(tmp_path / "bot.dombot", changed), 1)


def change_vector(line: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(line), **changes}).encode()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda line: b"{", "vector 5 is not valid"),
        (lambda line: b"[]", "vector 5: it must be an object"),
        (lambda line: change_vector(line, observation=[0] * 177), "a list of 178"),
        (lambda line: change_vector(line, observation=[9] * 178), "observation[0] must be"),
        (lambda line: change_vector(line, observation=[0.5] * 178), "observation[0] must be"),
        (lambda line: change_vector(line, mask=[0] * 58), "a number for each one"),
        (lambda line: change_vector(line, mask=None), "mask must be a list of 58"),
        (lambda line: change_vector(line, probabilities=[0.5] * 40), "a number for each one"),
        (lambda line: change_vector(line, value="high"), "value a number"),
        (lambda line: change_vector(line, value=10**400), "vector 5"),
        (lambda line: change_vector(line, view=7), "view must be an object"),
        (lambda line: change_vector(line, view="x" * 70000), "longer than"),
    ],
)
def test_vectors_that_are_not_sound(
    change: Callable[[bytes], bytes], words: str, members: dict[str, bytes], tmp_path: Path
) -> None:
    lines = members[VECTORS].splitlines()
    lines[5] = change(lines[5])
    path = repack(tmp_path / "bot.dombot", {**members, VECTORS: b"\n".join(lines)})
    assert words in refused(path)


def test_too_few_vectors(members: dict[str, bytes], tmp_path: Path) -> None:
    few = b"\n".join(members[VECTORS].splitlines()[:10])
    path = repack(tmp_path / "bot.dombot", {**members, VECTORS: few})
    assert "10 vectors" in refused(path)


# Encodings that are deliberately broken. The moves would hardly show it; the numbers must.


def permuted(places: dict[int, int]) -> list[int]:
    """The order of an observation's columns with some exchanged."""
    order = list(range(LINE_LAYOUT.size))
    for to, source in places.items():
        order[to] = source
    return order


def columns(name: str, seat: int, width: int) -> range:
    at = LINE_LAYOUT.offset(name) + seat * width
    return range(at, at + width)


def seats_exchanged() -> dict[int, int]:
    """Absolute instead of relative seats, as the second player would send them."""
    places = {}
    for name, width in (("sizes", 1), ("scores", 1), ("lacks", 7)):
        mine, others = columns(name, 0, width), columns(name, 1, width)
        places.update({**dict(zip(mine, others, strict=True))})
        places.update({**dict(zip(others, mine, strict=True))})
    return places


BROKEN = {
    "ends": permuted({ENDS: ENDS + 1, ENDS + 1: ENDS}),
    "seats": permuted(seats_exchanged()),
    "tiles": permuted({k: 27 - k for k in range(28)}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_graph_that_encodes_wrongly_fails(
    what: str, members: dict[str, bytes], tmp_path: Path
) -> None:
    model = onnx.load_model_from_string(members[GRAPH])
    order = np.array(BROKEN[what], np.int64)
    model.graph.initializer.append(onnx.numpy_helper.from_array(order, "order"))
    for node in model.graph.node:
        node.input[:] = ["wrong" if name == "observation" else name for name in node.input]
    gather = helper.make_node("Gather", ["observation", "order"], ["wrong"], axis=1)
    model.graph.node.insert(0, gather)
    data = model.SerializeToString()
    output = refused(repack(tmp_path / "bot.dombot", {**members, GRAPH: data}), 1)
    assert "NumPy: worst" in output
    assert output.count("FAIL") == output.count("onnxruntime: worst") == 2  # vectors and games


@pytest.mark.parametrize("what", BROKEN)
def test_vectors_of_a_frontend_that_encodes_wrongly_fail(
    what: str, members: dict[str, bytes], tmp_path: Path
) -> None:
    lines = []
    for line in members[VECTORS].splitlines():
        vector = json.loads(line)
        vector["observation"] = [vector["observation"][k] for k in BROKEN[what]]
        lines.append(json.dumps(vector).encode())
    path = repack(tmp_path / "bot.dombot", {**members, VECTORS: b"\n".join(lines)})
    assert refused(path, 1).count("FAIL") == 4  # in every reader, and against the views


def test_a_view_that_does_not_lead_to_its_vector(members: dict[str, bytes], tmp_path: Path) -> None:
    lines = members[VECTORS].splitlines()
    changes: list[dict[str, Any]] = [
        {"seat": 1},
        {"scores": [55, 0]},
        {"hand": []},
        {"legal": []},
        {"game": "draw_v0"},
        {"sizes": [7]},
        {"events": [{"kind": "play"}]},
        {"events": 5},
        {"scores": "many"},
        {"rules": None},
    ]
    for k, change in enumerate(changes):
        vector = json.loads(lines[k])
        view = {**vector["view"], **change}
        if change == {"seat": 1}:
            view["seat"] = 1 - vector["view"]["seat"]
        lines[k] = json.dumps({**vector, "view": view}).encode()
    path = repack(tmp_path / "bot.dombot", {**members, VECTORS: b"\n".join(lines)})
    assert f"views: worst difference 1.0e+00, {len(changes)} vectors FAIL" in refused(path, 1)


# Places that can't be written.


def test_a_folder_that_is_missing(policy: Policy, tmp_path: Path) -> None:
    write_folder(tmp_path / "p", policy_files(policy, describe_policy(policy)))
    result = run("export", str(tmp_path / "p"), "--out", str(tmp_path / "no" / "bot.dombot"))
    assert result.exit_code == 2
    assert "cannot write" in result.output
    (tmp_path / "folder.dombot").mkdir()
    result = run("export", str(tmp_path / "p"), "--out", str(tmp_path / "folder.dombot"))
    assert "it is a folder" in result.output
    result = run("export", str(tmp_path / "q"), "--out", str(tmp_path / "bot.dombot"))
    assert result.exit_code == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that even root can't write")
def test_a_folder_that_is_read_only(policy: Policy, tmp_path: Path) -> None:
    write_folder(tmp_path / "p", policy_files(policy, describe_policy(policy)))
    result = run("export", str(tmp_path / "p"), "--out", "/proc/bot.dombot")
    assert result.exit_code == 2, result.output
    assert "cannot write /proc/bot.dombot" in result.output
    assert len(result.output.strip().splitlines()) == 1


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "bot.dombot").write_bytes(b"old")
    code = f"""
import resource
from pathlib import Path
from dominozoo_training.export.packing import ExportError, write_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
try:
    write_whole(Path({str(tmp_path / "bot.dombot")!r}), bytes(100000), lambda path: None)
except ExportError as error:
    print(error)
"""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "cannot write" in result.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["bot.dombot"]
    assert (tmp_path / "bot.dombot").read_bytes() == b"old"


def test_what_fails_its_own_check_is_not_left(tmp_path: Path) -> None:
    def check(path: Path) -> None:
        raise ExportError("wrong")

    with pytest.raises(ExportError, match="wrong"):
        write_whole(tmp_path / "bot.dombot", b"x", check)
    assert not list(tmp_path.iterdir())


# Playing it.


def test_an_exported_bot_plays_in_the_arena(exported: Path) -> None:
    result = run("arena", "block", "--players", f"{exported},random", "--deals", "20")
    assert result.exit_code == 0, result.output


def test_an_exported_bot_plays_as_its_policy(policy: Policy, exported: Path) -> None:
    bot, tables = load_bot(exported), Tables("block", 64, seed=3)
    rows = np.arange(64)
    for _ in range(40):
        chances = bot.probabilities(tables.observation, tables.mask)
        chosen = bot.act(tables.observation, tables.mask)
        # Where both ends show the same number two actions are as good, and the last bit decides.
        same = policy.play(tables.observation, tables.mask)
        assert np.allclose(chances[rows, same], chances[rows, chosen], atol=1e-5, rtol=0)
        tables.step(chosen)


def lines_for_a_game() -> str:
    """Every number with both ends, again and again: some of them are legal."""
    return "\n".join([f"{k} {end}" for _ in range(60) for k in range(1, 15) for end in ("l", "r")])


def test_a_person_plays_hands_against_a_bot(exported: Path) -> None:
    words = ("play", "block", "--against", str(exported), "--seed", "4", "--hands", "2")
    result = run(*words, text="h\n" + lines_for_a_game())
    assert result.exit_code == 0, result.output
    assert "would play:" in result.output
    assert result.output.count("Scores:") == 2
    assert "The hands are played." in result.output
    assert run(*words, text="h\n" + lines_for_a_game()).output == result.output


@pytest.mark.parametrize("game", ["draw(players=3)", "partnership(poser=team)", "french"])
def test_other_games_are_played_too(game: str) -> None:
    moves = [
        f"{k} {end}" for _ in range(80) for k in range(1, 15) for end in ("l", "r", 0, 1, 2, 3)
    ]
    result = run("play", game, "--against", "hard,easy", "--seed", "1", text="\n".join(moves))
    assert result.exit_code == 0, result.output
    assert "The match is over" in result.output or "Bye." in result.output
    assert "Scores:" in result.output or "Penalties:" in result.output


def test_bad_answers_are_asked_again() -> None:
    text = "\n0\n99\n-1\nabc\n²\n1 2 3 4\nh\np\nq"
    result = run("play", "draw", "--against", "normal", "--seed", "2", text=text)
    assert result.exit_code == 0, result.output
    assert result.output.count("That is no move") >= 6
    assert "normal would play" in result.output
    assert result.output.rstrip().endswith("Bye.")


def test_the_end_of_input_ends_the_game() -> None:
    result = run("play", "block", "--against", "hard", "--seed", "2", text="")
    assert (result.exit_code, result.output.rstrip()[-4:]) == (0, "Bye.")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("chess",), "unknown game"),
        (("block", "--against", "nobody"), "is nobody"),
        (("block", "--against", "none.dombot"), "No such file"),
        (("block", "--seed", "-1"), "seed must lie in"),
    ],
)
def test_a_game_that_cannot_begin(words: tuple[str, ...], reason: str) -> None:
    result = run("play", *words, text="q\n")
    assert result.exit_code == 2, result.output
    assert reason in result.output
    assert "Traceback" not in result.output


def test_a_bot_of_another_game_is_refused(exported: Path) -> None:
    result = run("play", "french", "--against", str(exported), text="q\n")
    assert result.exit_code == 2
    assert "was made for block" in result.output


def test_the_zip_holds_plain_files_with_fixed_times(exported: Path) -> None:
    with zipfile.ZipFile(exported) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.namelist()[0] == MANIFEST


def test_tensors_of_a_foreign_type_are_refused(members: dict[str, bytes], tmp_path: Path) -> None:
    model = onnx.load_model_from_string(members[GRAPH])
    model.graph.input[1].type.tensor_type.elem_type = TensorProto.DOUBLE
    path = repack(tmp_path / "bot.dombot", {**members, GRAPH: model.SerializeToString()})
    assert "not those of the contract" in refused(path)

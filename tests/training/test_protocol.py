"""The protocol: what is answered, what is refused, and the page that specifies it."""

import io
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pydantic", reason="the extra serve is not installed")

import dominozoo
from dominozoo.notation import new_game, observation_from_view
from dominozoo.rules import parse as parse_rules
from dominozoo_training.export import stdio
from dominozoo_training.export.messages import (
    ANSWERS,
    CODES,
    DEPTH,
    LINE_BYTES,
    REQUESTS,
    RequestError,
)
from dominozoo_training.export.parsing import parse
from dominozoo_training.export.protocol import Desk, load_bots, uniforms
from dominozoo_training.export.schema import openapi, schemas, write_schemas

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "protocol.md"
Json = dict[str, Any]


def views(text: str, seed: int = 1, decisions: int = 40) -> Iterator[Json]:
    """Views of the seat to move; the middle one of the legal moves is played."""
    game = new_game(parse_rules(text))
    turn = game.reset((seed, 0), {})
    for _ in range(decisions):
        view = game.view(turn)
        yield view
        code = game.step(view["legal"][len(view["legal"]) // 2]["id"])
        turn = game.deal() if code >= 4 else code


@pytest.fixture(scope="module")
def desk() -> Desk:
    made = Desk(load_bots(["block", "truc"]))
    made.warm_up()  # else the first ask may find its time over while kernels are compiled
    return made


@pytest.fixture(scope="module")
def view() -> Json:
    return next(v for v in views("block") if len(v["legal"]) > 2 and len(v["events"]) > 3)


def asked(desk: Desk, **request: Any) -> Json:
    """The answer to one request, as it goes over the wire."""
    found: Json = json.loads(desk.answer(json.dumps(request).encode()).model_dump_json())
    return found


def code_of(desk: Desk, **request: Any) -> tuple[str, str | None]:
    """Code and field of an error."""
    answer = asked(desk, **request)
    assert answer["op"] == "error", answer
    assert answer["code"] in CODES
    return answer["code"], answer["field"]


@pytest.mark.parametrize("text", ["block", "truc"])
def test_the_bot_answers_what_it_would_play_at_the_table(desk: Desk, text: str) -> None:
    bot = dominozoo.load_bot(text)
    for view in views(text):
        answer = asked(
            desk, op="ask", view=view, select="greedy", probabilities=True, value=True, id=7
        )
        mask = np.zeros(bot.bundle.action_count, np.int8)
        mask[[move["id"] for move in view["legal"]]] = 1
        chances = bot.probabilities(observation_from_view(view), mask)
        assert answer["action"] == chances.argmax()
        told = {c["id"]: c["probability"] for c in answer["probabilities"]}
        assert told == pytest.approx({int(a): float(chances[a]) for a in np.flatnonzero(mask)})
        assert answer["value"] == pytest.approx(float(bot.value(observation_from_view(view))))
        assert (answer["id"], answer["bot"], answer["fallback"]) == (7, bot.id, False)
        move = next(m for m in view["legal"] if m["id"] == answer["action"])
        assert (answer["tile"], answer["end"]) == (move["tile"], move["end"])
        assert answer["forced"] == (len(view["legal"]) == 1)
        assert asked(desk, op="legal", view=view)["legal"] == view["legal"]


def test_draws_are_repeatable_and_follow_the_probabilities(desk: Desk, view: Json) -> None:
    def draw(seed: int, **more: Any) -> int:
        return int(asked(desk, op="ask", view=view, seed=seed, **more)["action"])

    first = [draw(seed, select="sampled", temperature=5) for seed in range(40)]
    assert first == [draw(seed, select="sampled", temperature=5) for seed in range(40)]
    assert len(set(first)) > 1
    assert len({draw(seed) for seed in range(40)}) == 1  # hard and greedy
    easy = {draw(seed, level="easy") for seed in range(60)}
    assert easy == {move["id"] for move in view["legal"]}


def test_the_generator_is_splitmix64() -> None:
    # The first words from seed 0 in the generator's reference implementation.
    assert uniforms(0) == (
        (0xE220A8397B1DCDAF >> 11) / 2**53,
        (0x6E789E6AA1B965F4 >> 11) / 2**53,
    )
    assert uniforms(1) == (0.5665615751722809, 0.7457817572627011)  # as the protocol's page has it
    assert all(0 <= u < 1 for u in uniforms(None))


def test_hello_tells_the_bots_and_can_what_they_play(desk: Desk) -> None:
    hello = asked(desk, op="hello", protocol="dombot-line/1", id="x")
    assert [bot["id"] for bot in hello["bots"]] == ["block", "truc"]
    assert hello["limits"]["line_bytes"] == LINE_BYTES
    assert (hello["id"], hello["bots"][0]["licence"]) == ("x", "Apache-2.0")
    assert code_of(desk, op="hello", protocol="other/2") == ("bad_request", "protocol")
    can = asked(desk, op="can", game="block_v0")
    assert (can["yes"], can["exact"], can["bots"], can["reason"]) == (True, True, ["block"], None)
    assert not asked(desk, op="can", game="block", rules={"target": 50})["exact"]
    for game, rules in (("block", {"players": 3}), ("chess", {}), ("block", {"tie": 1})):
        can = asked(desk, op="can", game=game, rules=rules)
        assert not can["yes"]
        assert can["reason"]
    assert not asked(desk, op="can", game="block", bot="truc")["yes"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", "bad_json"),
        (b"\xff", "bad_json"),
        (b"[1]", "bad_json"),
        (b"7", "bad_json"),
        (b'{"op": "ask", "time_ms": NaN}', "bad_json"),
        (b'{"id": ' + b"9" * 5000 + b"}", "bad_json"),
        (b"[" * 60_000, "bad_json"),
        (b'{"a": ' + b"[" * DEPTH + b"]" * DEPTH + b"}", "bad_json"),
        (b" " * (LINE_BYTES + 1), "too_long"),
        (b"{}", "unknown_op"),
        (b'{"op": ["ask"]}', "unknown_op"),
        (b'{"op": "shout"}', "unknown_op"),
        (b'{"op": "ask"}', "bad_request"),
        (b'{"op": "ask", "view": []}', "bad_request"),
        (b'{"op": "ask", "view": {}}', "bad_view"),
        (b'{"op": "ask", "view": {"game": "block"}}', "bad_view"),
        (b'{"op": "ask", "view": {"game": "block", "rules": {"x": 1}}}', "bad_view"),
        (b'{"op": "can", "game": 5}', "bad_request"),
        (b'{"op": "hello", "id": 1.5}', "bad_request"),
        (b'{"op": "hello", "id": "\\ud800"}', "bad_request"),
    ],
)
def test_a_bad_line_is_told_why(desk: Desk, line: bytes, code: str) -> None:
    answer = json.loads(desk.answer(line).model_dump_json())
    assert (answer["op"], answer["code"]) == ("error", code)
    assert answer["message"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"time_ms": 0}, "time_ms"),
        ({"time_ms": "9"}, "time_ms"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**60}, "seed"),
        ({"seed": True}, "seed"),
        ({"temperature": 0}, "temperature"),
        ({"level": "grandmaster"}, "level"),
        ({"select": "best"}, "select"),
        ({"probabilities": 1}, "probabilities"),
    ],
)
def test_a_field_of_the_wrong_type_or_range_is_named(
    desk: Desk, view: Json, changes: Json, field: str
) -> None:
    assert code_of(desk, op="ask", view=view, **changes) == ("bad_request", field)


def test_a_view_that_cannot_be_is_refused_by_its_field(desk: Desk, view: Json) -> None:
    for changes, code, field in (
        ({"hand": [view["hand"][0]] * len(view["hand"])}, "bad_view", "view.hand"),
        ({"hand": view["hand"][1:]}, "bad_view", "view.hand"),
        ({"legal": view["legal"][1:]}, "bad_view", "view.legal"),
        ({"sizes": [1, 1]}, "bad_view", "view.sizes"),
        ({"phase": "over"}, "over", "view.phase"),
        ({"turn": 1 - view["seat"]}, "not_your_turn", "view.turn"),
        ({"game": "french_v0", "rules": {}}, "wrong_game", "view"),
        ({"events": 3}, "bad_view", "view.events"),
        ({"game": "chess"}, "bad_view", "view.game"),
        ({"game": 3}, "bad_view", "view.game"),
        ({"rules": None}, "bad_view", "view.rules"),
        ({"rules": {"players": 7}}, "bad_view", "view.rules"),
        ({"rules": {"game": "block"}}, "bad_view", "view.rules"),
    ):
        assert code_of(desk, op="ask", view={**view, **changes}) == (code, field)
    assert code_of(desk, op="ask", view=view, bot="nobody") == ("unknown_bot", "bot")
    assert code_of(desk, op="ask", view=view, bot="truc") == ("wrong_game", "view")


def test_what_is_unknown_is_ignored(desk: Desk, view: Json) -> None:
    answer = asked(desk, op="ask", view={**view, "colour": "red"}, mood="good")
    assert answer["op"] == "act"


def test_null_in_an_optional_field_is_as_if_left_out(desk: Desk, view: Json) -> None:
    for name, model in REQUESTS.items():
        needed = {"op": name, "view": view, "game": "block"}
        request = {key: needed[key] for key, f in model.model_fields.items() if f.is_required()}
        nulls = dict.fromkeys(model.model_fields, None)
        assert asked(desk, **{**nulls, **request}) == asked(desk, **request)
        for field, schema in model.model_json_schema()["properties"].items():
            assert field in request or {"type": "null"} in schema["anyOf"], (name, field)
    assert asked(desk, op="can", game="block", rules={"target": None})["exact"]
    assert code_of(desk, op="ask", view=None) == ("bad_request", "view")


def test_null_in_an_optional_field_of_a_view_is_as_if_left_out(desk: Desk) -> None:
    follow = ("legal", "board", "ends", "locked", "passes", "opener", "last_hand", "over")
    for text in ("block", "truc"):
        for view in list(views(text))[::5]:
            whole = asked(desk, op="legal", view=view)
            events = [{**event, "ends_after": None} for event in view["events"]]
            nulls = {**dict.fromkeys(follow, None), "events": events, "rules": {"target": None}}
            assert whole["op"] == "legal"
            assert asked(desk, op="legal", view={**view, **nulls}) == whole
            assert asked(desk, op="legal", view={**view, "rules": {}}) == whole
            for field in ("seat", "turn", "hand", "scores"):
                refused = code_of(desk, op="legal", view={**view, field: None})
                assert refused == ("bad_view", f"view.{field}")


class Slow:
    """A bot that thinks for a second."""

    def __init__(self) -> None:
        bot = dominozoo.load_bot("block")
        self.rules, self.bundle, self.id, self.version = bot.rules, bot.bundle, "slow", "1"

    def probabilities(self, observation: Any, mask: Any) -> Any:
        time.sleep(1)
        return mask / mask.sum()

    def evaluate(self, observation: Any, mask: Any) -> Any:
        raise RuntimeError("it can't")


def test_a_late_bot_is_stood_in_for(view: Json, capsys: pytest.CaptureFixture[str]) -> None:
    desk, start = Desk([Slow()]), time.perf_counter()
    answer = asked(desk, op="ask", view=view, time_ms=50, seed=3)
    assert time.perf_counter() - start < 0.8
    assert answer["fallback"]
    assert answer["action"] in [move["id"] for move in view["legal"]]
    assert answer == asked(desk, op="ask", view=view, time_ms=50, seed=3)
    assert code_of(desk, op="ask", view=view, time_ms=50, fallback=False)[0] == "late"
    assert code_of(desk, op="ask", view=view, value=True)[0] == "internal"
    assert "it can't" in capsys.readouterr().err


def test_two_bots_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="--id"):
        load_bots(["block", "block"])


def test_deep_nesting_is_refused_at_the_limit() -> None:
    whole = b'{"a": ' + b"[" * (DEPTH - 1) + b"]" * (DEPTH - 1) + b"}"
    assert parse(whole)
    with pytest.raises(RequestError, match="nested"):
        parse(b'{"a": [' + whole + b"]}")


@pytest.mark.parametrize(
    "text",
    [
        '"[[[" , ' * 9 + "{}",
        '"\\"[", ' * 20 + "{}",
        '"]", [' * 9 + "]" * 9,
        "".join(f'"{DEPTH * "["}", ' for _ in range(3)) + '"]"',
    ],
)
def test_brackets_in_texts_are_no_nesting(text: str) -> None:
    assert parse(b'{"a": [' + text.encode() + b"]}")


@pytest.mark.parametrize("between", ['"]"', '"]", "["', '"\\"]"', '{"]": "]"}', '"", "]", ""'])
def test_brackets_in_texts_hide_no_nesting(between: str) -> None:
    for levels, fits in ((DEPTH - 1, True), (DEPTH, False), (2 * DEPTH, False)):
        inside = f"[{between}, " * (levels - 1) + "[0" + "]" * levels
        if "{" in between and fits:
            continue
        text = b'{"a": ' + inside.encode() + b"}"
        if fits:
            assert parse(text)
        else:
            with pytest.raises(RequestError, match="nested"):
                parse(text)


def spoken(desk: Desk, text: bytes) -> list[Json]:
    """What comes out of the line loop."""
    sink = io.BytesIO()
    stdio.serve(desk, io.BytesIO(text), sink)
    assert not sink.getvalue() or sink.getvalue().endswith(b"\n")
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_a_bad_line_never_ends_the_conversation(desk: Desk) -> None:
    hello = b'{"op": "hello", "id": 2}\n'
    long = b"x" * (3 * LINE_BYTES) + b"\n"
    answers = spoken(desk, b"{{{\n\n" + long + b"\r\n" + hello + b'{"op": "quit"}\n' + hello)
    assert [a["op"] for a in answers] == ["error", "error", "hello", "bye"]
    assert [a.get("code") for a in answers[:2]] == ["bad_json", "too_long"]
    assert answers[2]["id"] == 2
    full = b'{"op": "hello", "pad": "' + b"x" * (LINE_BYTES - 26) + b'"}'
    assert len(full) == LINE_BYTES
    longer = full[:-2] + b'x"}'
    for end in (b"\n", b"\r\n"):
        answers = spoken(desk, full + end + longer + end + hello)
        assert [a["op"] for a in answers] == ["hello", "error", "hello"]
    assert [a["op"] for a in spoken(desk, b'{"op": "quit"}')] == ["bye"]


def test_the_command_answers_lines_and_ends_quietly() -> None:
    command = [sys.executable, "-m", "dominozoo_training.cli", "serve", "block", "--stdio"]
    text = '{"op": "hello"}\n{"op": "nothing"}\n{"op": "quit"}\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert [json.loads(line)["op"] for line in done.stdout.splitlines()] == [
        "hello",
        "error",
        "bye",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b'{"op": "hello"}\n')
        process.stdin.flush()
        assert process.stdout.readline()
        process.terminate()
        assert process.wait(20) == 0


def test_every_message_has_its_schema(tmp_path: Path) -> None:
    found = schemas()
    assert len(found) == len(REQUESTS) + len(ANSWERS)
    number, null = found["request.ask"]["properties"]["time_ms"]["anyOf"]
    assert (number["maximum"], null) == (10_000, {"type": "null"})
    assert found["answer.error"]["properties"]["code"]["enum"] == list(CODES)
    written = write_schemas(tmp_path / "schemas")
    assert {path.stem for path in written} == {*found, "openapi"}
    assert json.loads(written[0].read_text("utf-8")) == next(iter(found.values()))


def test_the_openapi_document_refers_to_what_it_defines() -> None:
    document = openapi()
    text = json.dumps(document)
    for name in re.findall(r'"#/components/schemas/(\w+)"', text):
        assert name in document["components"]["schemas"]
    assert set(document["paths"]) == {"/healthz", "/v1/info", "/v1/act", "/v1/legal", "/v1/can"}


# The page for people who never see the code.
EXAMPLE = re.compile(
    r"<!-- request -->\n```json\n(.*?)```\n\n<!-- answer -->\n```json\n(.*?)```", re.DOTALL
)
EXAMPLES = [
    (json.loads(request), json.loads(answer))
    for request, answer in EXAMPLE.findall(PAGE.read_text(encoding="utf-8"))
]


def agrees(shown: Any, got: Any) -> bool:
    """Whether an answer is the one shown, "..." standing for anything."""
    if shown == "...":
        return True
    if isinstance(shown, dict) and isinstance(got, dict):
        return shown.keys() == got.keys() and all(agrees(v, got[k]) for k, v in shown.items())
    if isinstance(shown, list) and isinstance(got, list):
        return len(shown) == len(got) and all(map(agrees, shown, got))
    return bool(shown == got)


@pytest.mark.parametrize(
    ("request_", "answer"), EXAMPLES, ids=[f"{k}-{r['op']}" for k, (r, _) in enumerate(EXAMPLES)]
)
@pytest.mark.usefixtures("desk")  # so that all is compiled
def test_an_example_of_the_page_is_what_comes_back(request_: Json, answer: Json) -> None:
    got = asked(Desk(load_bots(["block"])), **request_)
    assert agrees(answer, got), got


def test_the_page_shows_every_operation_and_lists_every_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert {request["op"] for request, _ in EXAMPLES} == set(REQUESTS)
    assert {answer["op"] for _, answer in EXAMPLES} == set(ANSWERS)
    for code, status in CODES.items():
        assert f"| `{code}` | {status} |" in text
    for op in ("ask", "act"):
        models: Any = {**REQUESTS, **ANSWERS}
        for name in set(models[op].model_fields) - {"op", "id", "bot", "version"}:
            assert f"`{name}`" in text

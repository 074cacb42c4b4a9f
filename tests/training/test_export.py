"""The exported graph: its contract, what it equals, and which graphs are refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest
from onnx import ModelProto, TensorProto, helper

from dominozoo.bots.archive import GRAPH, read_members
from dominozoo.bots.manifest import shape_of
from dominozoo.bots.network import Network
from dominozoo.fields import LINE_LAYOUT
from dominozoo.rules import parse
from dominozoo_training.export import graph
from dominozoo_training.export.onnx import lower_opset, to_onnx
from dominozoo_training.export.parity import compare, difference
from dominozoo_training.export.positions import positions
from dominozoo_training.export.readers import Reader
from dominozoo_training.export.torch_reader import TorchReader
from dominozoo_training.policy.checkpoint import Policy

GAMES = [
    "block",
    "block(players=3)",
    "draw(players=4)",
    "partnership(poser=team, tie=escalate)",
    "cutthroat(players=2, draw=True)",
    "cutthroat(players=3, decider=True)",
    "six_love",
    "chiva(players=3)",
    "french",
    "truc(target=4, max_redeals=2)",
]


def numpy_reader(policy: Policy) -> Network:
    weights = {name: weight.numpy() for name, weight in policy.network.state_dict().items()}
    return Network(weights, shape_of(policy.rules, policy.network.encoder.sizes))


@pytest.fixture(scope="module")
def data(exported: Path) -> bytes:
    """The graph of the exported bot."""
    return read_members(exported)[GRAPH]


@pytest.fixture
def model(data: bytes) -> ModelProto:
    return onnx.load_model_from_string(data)


# What it equals.


def test_graph_and_numpy_equal_torch_on_2048_positions(policy: Policy, data: bytes) -> None:
    where = positions(policy.rules, 2048, seed=9)
    readers: dict[str, Reader] = {
        "onnx": graph.GraphPolicy(data),
        "numpy": numpy_reader(policy),
    }
    worst = compare(TorchReader(policy.network), readers, where)
    assert len(where) == 2048
    assert max(worst.values()) <= 1e-5, worst


@pytest.mark.parametrize("game", ["french", "truc"])
def test_other_graphs_equal_torch(game: str, make_policy: Callable[[str], Policy]) -> None:
    policy = make_policy(game)
    readers: dict[str, Reader] = {
        "onnx": graph.GraphPolicy(to_onnx(policy.network)),
        "numpy": numpy_reader(policy),
    }
    worst = compare(TorchReader(policy.network), readers, positions(parse(game), 2048))
    assert max(worst.values()) <= 1e-5, worst


@pytest.mark.parametrize("game", GAMES)
def test_numpy_equals_torch_in_every_game(game: str, make_policy: Callable[[str], Policy]) -> None:
    policy = make_policy(game)
    where = positions(parse(game), 1024)
    worst = compare(TorchReader(policy.network), {"numpy": numpy_reader(policy)}, where)
    assert worst["numpy"] <= 1e-5


def test_the_policy_as_it_is_played_equals_its_graph(policy: Policy, data: bytes) -> None:
    where = positions(policy.rules, 256, seed=3)
    chances, value = graph.GraphPolicy(data).evaluate(where.observation, where.mask)
    played = policy.probabilities(where.observation, where.mask)
    np.testing.assert_allclose(chances, played, atol=1e-5)
    np.testing.assert_allclose(value, policy.value(where.observation), atol=1e-5)


def test_a_wrong_reader_is_found(policy: Policy) -> None:
    where = positions(policy.rules, 256)

    class Wrong(Network):
        def evaluate(self, observation: Any, mask: Any) -> Any:
            swapped = observation.copy()
            swapped[:, [84, 85]] = swapped[:, [85, 84]]
            return super().evaluate(swapped, mask)

    right = numpy_reader(policy)
    wrong = Wrong(
        {name: weight.numpy() for name, weight in policy.network.state_dict().items()}, right.shape
    )
    assert compare(TorchReader(policy.network), {"wrong": wrong}, where)["wrong"] > 1e-3


def test_chances_of_illegal_actions_are_a_difference_without_bounds() -> None:
    mask = np.array([[1, 0]])

    def answer(*chances: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        return np.array([chances], np.float32), np.zeros(1, np.float32)

    assert difference(answer(1, 0), answer(1, 0), mask) == 0
    assert difference(answer(1, 1e-9), answer(1, 0), mask) == np.inf
    assert difference(answer(np.nan, 0), answer(1, 0), mask) == np.inf
    assert difference(answer(1, 0, 0), answer(1, 0), mask) == np.inf


def test_positions_are_of_every_kind() -> None:
    where = positions(parse("draw"), 2048)
    assert where.mask[:, -2].sum() > 100  # draws
    assert where.mask[:, -1].sum() > 10  # passes
    assert (where.observation[:, 84] == 0).sum() > 10  # poses
    again = positions(parse("draw"), 2048)
    np.testing.assert_array_equal(where.observation, again.observation)


# Its contract.


def test_names_types_and_shapes(data: bytes) -> None:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = [(v.name, v.type, v.shape) for v in (*session.get_inputs(), *session.get_outputs())]
    assert found == [
        ("observation", "tensor(int32)", ["batch", 178]),
        ("mask", "tensor(int32)", ["batch", 58]),
        ("probabilities", "tensor(float)", ["batch", 58]),
        ("value", "tensor(float)", ["batch"]),
    ]


def test_it_is_one_plain_file_of_opset_15(data: bytes, model: ModelProto) -> None:
    assert [(entry.domain, entry.version) for entry in model.opset_import] == [("", 15)]
    assert model.ir_version == 8
    assert set(graph.operators(data)) <= graph.OPERATORS
    assert not any(tensor.external_data for tensor in model.graph.initializer)
    floats = {TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL}
    assert {tensor.data_type for tensor in model.graph.initializer} <= floats


def test_it_tells_nothing_of_where_it_was_made(data: bytes, model: ModelProto) -> None:
    for word in (b".py", b"site-packages", b"/home", b"Traceback", b"dominozoo"):
        assert word not in data
    assert not model.metadata_props
    assert not any(node.metadata_props or node.doc_string or node.name for node in model.graph.node)


# Which graphs are refused.


def node_of(model: ModelProto, kind: str) -> Any:
    return next(node for node in model.graph.node if node.op_type == kind)


def other_operator(model: ModelProto) -> None:
    node_of(model, "Relu").op_type = "Einsum"


def other_domain(model: ModelProto) -> None:
    node_of(model, "Relu").domain = "com.evil"


def second_domain(model: ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("com.evil", 1))


def control_flow(model: ModelProto) -> None:
    node_of(model, "Relu").op_type = "Loop"


def graph_inside(model: ModelProto) -> None:
    attribute = node_of(model, "Relu").attribute.add()
    attribute.name, attribute.type = "body", onnx.AttributeProto.GRAPH
    attribute.g.name = "x"


def function(model: ModelProto) -> None:
    model.functions.add().name = "f"


def outside(model: ModelProto) -> None:
    tensor = model.graph.initializer[0]
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def newer_opset(model: ModelProto) -> None:
    model.opset_import[0].version = 21


def other_input(model: ModelProto) -> None:
    model.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64


def other_width(model: ModelProto) -> None:
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 59


def fixed_batch(model: ModelProto) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1


def sequence_input(model: ModelProto) -> None:
    model.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type = 1


def third_input(model: ModelProto) -> None:
    model.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]))


def loose_end(model: ModelProto) -> None:
    node_of(model, "Relu").input[0] = "nowhere"


def no_such_type(model: ModelProto) -> None:
    model.graph.input[0].type.tensor_type.elem_type = 250


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (no_such_type, "a type that doesn't exist"),
        (other_operator, "operator Einsum"),
        (other_domain, r"operator com.evil.Relu"),
        (second_domain, "opsets"),
        (control_flow, "operator Loop"),
        (graph_inside, "graph inside"),
        (function, "functions"),
        (outside, "outside the file"),
        (newer_opset, "only opset 15"),
        (other_input, "not those of the contract"),
        (other_width, "not those of the contract"),
        (fixed_batch, "not those of the contract"),
        (sequence_input, "not those of the contract"),
        (third_input, "not those of the contract"),
        (loose_end, "nowhere"),
    ],
)
def test_a_foreign_graph_is_refused(
    model: ModelProto, change: Callable[[ModelProto], None], words: str
) -> None:
    change(model)
    with pytest.raises(graph.GraphError, match=words) as caught:
        graph.check(model.SerializeToString(), LINE_LAYOUT, 58)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_graph_are_refused(data: bytes) -> None:
    for noise in (b"", b"hello", data[: len(data) // 2], bytes(1000)):
        with pytest.raises(graph.GraphError):
            graph.check(noise, LINE_LAYOUT, 58)
    with pytest.raises(graph.GraphError, match="larger than 16 MiB"):
        graph.check(bytes((16 << 20) + 1), LINE_LAYOUT, 58)


def test_names_that_are_no_text_are_refused(model: ModelProto) -> None:
    node_of(model, "Relu").input[0] = "odd-name"
    data = model.SerializeToString().replace(b"odd-name", b"\xff" * 8)
    with pytest.raises(graph.GraphError, match="no UTF-8"):
        graph.check(data, LINE_LAYOUT, 58)


def test_a_graph_for_another_game_is_refused(data: bytes) -> None:
    with pytest.raises(graph.GraphError, match="not those of the contract"):
        graph.check(data, LINE_LAYOUT, 114)


def test_an_operator_without_an_equal_in_opset_15_is_refused() -> None:
    node = helper.make_node("BitwiseAnd", ["a", "b"], ["c"])
    values = [helper.make_tensor_value_info(name, TensorProto.INT32, [1]) for name in "abc"]
    model = helper.make_model(
        helper.make_graph([node], "g", values[:2], values[2:]),
        opset_imports=[helper.make_opsetid("", 18)],
    )
    with pytest.raises(graph.GraphError, match="BitwiseAnd"):
        lower_opset(model)

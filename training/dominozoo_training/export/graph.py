"""The contract of an exported graph: observation and mask in, probabilities and value out.

All encoding lies inside the graph, so whoever runs it feeds the environment's integers as they
are. The graph keeps to opset 15 and to a short list of old operators, which small runtimes know.
Checking and running one needs onnx and onnxruntime, not torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto, TensorProto
from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]

from dominozoo.bots.archive import GRAPH, LIMITS
from dominozoo.fields import Layout

OPSET: Final = 15
IR_VERSION: Final = 8  # the one that came with opset 15
INPUTS: Final = ("observation", "mask")
OUTPUTS: Final = ("probabilities", "value")
BATCH: Final = "batch"

# What a graph may be made of: no control flow, no functions, nothing of another domain.
OPERATORS: Final = frozenset(
    (
        *("Add", "And", "Cast", "Clip", "Concat", "Constant", "ConstantOfShape", "Div"),
        *("Equal", "Exp", "Expand", "Gather", "GatherElements", "GatherND", "Gemm", "Greater"),
        *("GreaterOrEqual", "Identity", "Less", "LessOrEqual", "Log", "MatMul", "Max", "Min"),
        *("Mul", "Neg", "Not", "Or", "Pad", "ReduceMax", "ReduceMean", "ReduceMin"),
        *("ReduceSum", "Relu", "Reshape", "Shape", "Sigmoid", "Slice", "Softmax", "Squeeze"),
        *("Sub", "Tanh", "Transpose", "Unsqueeze", "Where"),
    )
)


class GraphError(ValueError):
    """A graph that isn't what a bundle may hold."""


def check(data: bytes, layout: Layout, actions: int) -> ModelProto:
    """Refuse a graph that isn't plainly a policy of the contract; nothing is run.

    Args:
        data: the model's bytes.
        layout: of the observation.
        actions: size of the action space.

    Raises:
        GraphError: with the first thing that is wrong.
    """
    if len(data) > LIMITS[GRAPH]:
        raise GraphError(f"larger than {LIMITS[GRAPH] >> 20} MiB")
    model = ModelProto()
    try:
        model.ParseFromString(data)
    except DecodeError:
        raise GraphError("no ONNX model") from None
    try:
        _check_parts(model, layout, actions)
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise GraphError(str(error).splitlines()[0]) from None
    except (UnicodeDecodeError, KeyError):
        raise GraphError("a name that is no UTF-8, or a type that doesn't exist") from None
    return model


def _check_parts(model: ModelProto, layout: Layout, actions: int) -> None:
    opsets = [(entry.domain, entry.version) for entry in model.opset_import]
    if opsets != [("", OPSET)]:
        raise GraphError(f"opsets {opsets}, only opset {OPSET} of the standard domain is taken")
    if model.functions or model.training_info or model.graph.sparse_initializer:
        raise GraphError("functions, training information and sparse weights are not taken")
    _check_nodes(model)
    _check_interface(model, layout, actions)


def _check_nodes(model: ModelProto) -> None:
    for node in model.graph.node:
        if node.domain not in ("", "ai.onnx") or node.op_type not in OPERATORS:
            raise GraphError(f"operator {node.domain}{'.' * bool(node.domain)}{node.op_type}")
        for attribute in node.attribute:
            if attribute.HasField("g") or attribute.graphs or attribute.ref_attr_name:
                raise GraphError(f"{node.op_type} with a graph inside")
    for tensor in _tensors(model):
        if tensor.external_data or tensor.data_location != TensorProto.DEFAULT:
            raise GraphError(f"tensor {tensor.name[:40]!r} lies outside the file")


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    yield from model.graph.initializer
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors


def _check_interface(model: ModelProto, layout: Layout, actions: int) -> None:
    expected = interface(layout, actions)
    found = [
        {
            "name": value.name,
            "dtype": onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type).name,
            "shape": [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim],
        }
        for value in (*model.graph.input, *model.graph.output)
        if value.type.HasField("tensor_type") and value.type.tensor_type.elem_type
    ]
    if found != expected["inputs"] + expected["outputs"]:
        raise GraphError(f"inputs and outputs {found} are not those of the contract")


def interface(layout: Layout, actions: int) -> dict[str, list[dict[str, Any]]]:
    """Names, types and shapes of the graph's inputs and outputs, JSON types."""
    wide: list[Any] = [BATCH, actions]
    return {
        "inputs": [
            {"name": INPUTS[0], "dtype": "int32", "shape": [BATCH, layout.size]},
            {"name": INPUTS[1], "dtype": "int32", "shape": wide},
        ],
        "outputs": [
            {"name": OUTPUTS[0], "dtype": "float32", "shape": wide},
            {"name": OUTPUTS[1], "dtype": "float32", "shape": [BATCH]},
        ],
    }


def operators(data: bytes) -> list[str]:
    """The operators that a checked model uses, sorted."""
    model = ModelProto()
    model.ParseFromString(data)
    return sorted({node.op_type for node in model.graph.node})


_REFUSALS: Final = (
    state.Fail,
    state.InvalidArgument,
    state.InvalidGraph,
    state.InvalidProtobuf,
    state.NotImplemented,
    state.RuntimeException,
)


class GraphPolicy:
    """A graph in onnxruntime, on one thread of the CPU.

    Args:
        data: a model that :func:`check` let pass.

    Raises:
        GraphError: if onnxruntime refuses it.
    """

    def __init__(self, data: bytes) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self.session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
        except _REFUSALS as error:
            raise GraphError(f"onnxruntime refuses it: {_first_line(error)}") from None

    def evaluate(
        self, observation: npt.NDArray[Any], mask: npt.NDArray[Any]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Probabilities (B, actions) and values (B,) of observations (B, size) and masks."""
        feed = {INPUTS[0]: observation.astype(np.int32), INPUTS[1]: mask.astype(np.int32)}
        try:
            probabilities, value = self.session.run(list(OUTPUTS), feed)
        except _REFUSALS as error:
            raise GraphError(f"onnxruntime failed: {_first_line(error)}") from None
        return np.asarray(probabilities), np.asarray(value)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300] if str(error) else type(error).__name__

"""The policy as an ONNX graph: observation and mask in, probabilities and value out.

All encoding lies inside the graph, so whoever runs it feeds the environment's integers as they
are. The graph keeps to opset 15 and to a short list of old operators, which small runtimes know.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime  # type: ignore[import-untyped]
import torch
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper
from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]

from dominozoo.bots.archive import GRAPH, LIMITS
from dominozoo.fields import LINE_LAYOUT
from dominozoo_training.policy.network import PolicyNetwork

OPSET: Final = 15
TORCH_OPSET: Final = 18  # the oldest that torch writes by itself
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
# Operators that newer opsets only opened to more types: their nodes are the same in opset 15.
_MORE_TYPES: Final = frozenset({"GreaterOrEqual", "LessOrEqual", "Where"})
_REDUCERS: Final = frozenset({"ReduceMax", "ReduceMean", "ReduceMin"})


class GraphError(ValueError):
    """A graph that isn't what a bundle may hold."""


def to_onnx(network: PolicyNetwork) -> bytes:
    """Export a policy; the same weights give the same bytes.

    Args:
        network: the policy, on the CPU.

    Returns:
        The model: inputs ``observation`` int32 (batch, 178) and ``mask`` int32 (batch, actions),
        outputs ``probabilities`` float32 (batch, actions) and ``value`` float32 (batch,).

    Raises:
        GraphError: if what torch made breaks a promise of this module.
    """
    # With an example of one row the batch would be frozen to 1 without a word.
    observation = torch.zeros(2, LINE_LAYOUT.size, dtype=torch.int32)
    mask = torch.ones(2, network.action_count, dtype=torch.int32)
    batch = torch.export.Dim(BATCH)
    with _quiet(), one_thread():
        program = torch.onnx.export(
            network.eval(),
            (observation, mask),
            dynamo=True,
            external_data=False,
            opset_version=TORCH_OPSET,
            dynamic_shapes=({0: batch}, {0: batch}),
            input_names=list(INPUTS),
            output_names=list(OUTPUTS),
            verbose=False,
        )
    if program is None:
        raise GraphError("torch exported nothing")
    model = program.model_proto
    lower_opset(model)
    strip(model)
    data: bytes = model.SerializeToString(deterministic=True)
    check(data, network.action_count)
    return data


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep torch's remarks about its own insides back."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch work on one thread: small batches gain nothing from more and wait for them."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def lower_opset(model: ModelProto) -> None:
    """Rewrite a model of a later opset in place so that it is one of opset 15.

    Raises:
        GraphError: if an operator has no equal in opset 15.
    """
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        _lower(node, constants, model.opset_import[0].version)
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    del model.opset_import[:]
    model.opset_import.append(onnx.helper.make_opsetid("", OPSET))
    model.ir_version = IR_VERSION


def _lower(node: NodeProto, constants: dict[str, TensorProto], version: int) -> None:
    old, new = (
        onnx.defs.get_schema(node.op_type, max_inclusive_version=at).since_version
        for at in (OPSET, max(version, OPSET))
    )
    if old == new or node.op_type in _MORE_TYPES:
        return
    if node.op_type == "Pad" and len(node.input) <= 3:
        return
    if node.op_type in _REDUCERS and len(node.input) == 2 and node.input[1] in constants:
        axes = numpy_helper.to_array(constants[node.input[1]]).tolist()
        node.attribute.append(onnx.helper.make_attribute("axes", axes))
        del node.input[1:]
        return
    raise GraphError(f"{node.op_type} of opset {new} has no equal in opset {OPSET}")


def strip(model: ModelProto) -> None:
    """Remove in place what a runtime doesn't need: stack traces, local paths, node names."""
    graph = model.graph
    del model.metadata_props[:], graph.metadata_props[:], graph.value_info[:]
    model.doc_string = graph.doc_string = ""
    graph.name = "policy"
    for node in graph.node:
        node.name = ""
    for part in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        del part.metadata_props[:]
        part.doc_string = ""


def check(data: bytes, actions: int) -> ModelProto:
    """Refuse a graph that isn't plainly a policy of the contract; nothing is run.

    Args:
        data: the model's bytes.
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
    opsets = [(entry.domain, entry.version) for entry in model.opset_import]
    if opsets != [("", OPSET)]:
        raise GraphError(f"opsets {opsets}, only opset {OPSET} of the standard domain is taken")
    if model.functions or model.training_info or model.graph.sparse_initializer:
        raise GraphError("functions, training information and sparse weights are not taken")
    _check_nodes(model)
    _check_interface(model, actions)
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        raise GraphError(str(error).splitlines()[0]) from None
    return model


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


def _check_interface(model: ModelProto, actions: int) -> None:
    expected = interface(actions)
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


def interface(actions: int) -> dict[str, list[dict[str, Any]]]:
    """Names, types and shapes of the graph's inputs and outputs, JSON types."""
    wide: list[Any] = [BATCH, actions]
    return {
        "inputs": [
            {"name": INPUTS[0], "dtype": "int32", "shape": [BATCH, LINE_LAYOUT.size]},
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
        """Probabilities (B, actions) and values (B,) of observations (B, 178) and masks."""
        feed = {INPUTS[0]: observation.astype(np.int32), INPUTS[1]: mask.astype(np.int32)}
        try:
            probabilities, value = self.session.run(list(OUTPUTS), feed)
        except _REFUSALS as error:
            raise GraphError(f"onnxruntime failed: {_first_line(error)}") from None
        return np.asarray(probabilities), np.asarray(value)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300] if str(error) else type(error).__name__

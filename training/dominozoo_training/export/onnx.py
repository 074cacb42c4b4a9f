"""Exporting a policy as an ONNX graph of opset 15, from what torch writes."""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from typing import Final

import onnx
import torch
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

from dominozoo_training.export import graph
from dominozoo_training.export.torch_reader import one_thread
from dominozoo_training.policy.network import PolicyNetwork

TORCH_OPSET: Final = 18  # the oldest that torch writes by itself
# Operators that newer opsets only opened to more types: their nodes are the same in opset 15.
_MORE_TYPES: Final = frozenset({"GreaterOrEqual", "LessOrEqual", "Where"})
_REDUCERS: Final = frozenset({"ReduceMax", "ReduceMean", "ReduceMin"})


def to_onnx(network: PolicyNetwork) -> bytes:
    """Export a policy; the same weights give the same bytes.

    Args:
        network: the policy, on the CPU.

    Returns:
        The model: inputs ``observation`` int32 (batch, size) and ``mask`` int32 (batch, actions),
        outputs ``probabilities`` float32 (batch, actions) and ``value`` float32 (batch,).

    Raises:
        graph.GraphError: if what torch made breaks a promise of this module.
    """
    # With an example of one row the batch would be frozen to 1 without a word.
    observation = torch.zeros(2, network.encoder.layout.size, dtype=torch.int32)
    mask = torch.ones(2, network.action_count, dtype=torch.int32)
    batch = torch.export.Dim(graph.BATCH)
    with _quiet(), one_thread():
        program = torch.onnx.export(
            network.eval(),
            (observation, mask),
            dynamo=True,
            external_data=False,
            opset_version=TORCH_OPSET,
            dynamic_shapes=({0: batch}, {0: batch}),
            input_names=list(graph.INPUTS),
            output_names=list(graph.OUTPUTS),
            verbose=False,
        )
    if program is None:
        raise graph.GraphError("torch exported nothing")
    model = program.model_proto
    lower_opset(model)
    strip(model)
    data: bytes = model.SerializeToString(deterministic=True)
    graph.check(data, network.encoder.layout, network.action_count)
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


def lower_opset(model: ModelProto) -> None:
    """Rewrite a model of a later opset in place so that it is one of opset 15.

    Raises:
        graph.GraphError: if an operator has no equal in opset 15.
    """
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    for node in model.graph.node:
        _lower(node, constants, model.opset_import[0].version)
    used = {name for node in model.graph.node for name in node.input}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    del model.opset_import[:]
    model.opset_import.append(onnx.helper.make_opsetid("", graph.OPSET))
    model.ir_version = graph.IR_VERSION


def _lower(node: NodeProto, constants: dict[str, TensorProto], version: int) -> None:
    old, new = (_since(node.op_type, at) for at in (graph.OPSET, max(version, graph.OPSET)))
    if old == new or (old and node.op_type in _MORE_TYPES):
        return
    if node.op_type == "Pad" and len(node.input) <= 3:
        return
    if node.op_type in _REDUCERS and len(node.input) == 2 and node.input[1] in constants:
        axes = numpy_helper.to_array(constants[node.input[1]]).tolist()
        node.attribute.append(onnx.helper.make_attribute("axes", axes))
        del node.input[1:]
        return
    raise graph.GraphError(
        f"{node.op_type} of opset {new or version} has no equal in opset {graph.OPSET}"
    )


def _since(kind: str, opset: int) -> int:
    """The opset that defined an operator as it is in ``opset``, 0 if there is none."""
    try:
        return int(onnx.defs.get_schema(kind, max_inclusive_version=opset).since_version)
    except onnx.defs.SchemaError:
        return 0


def strip(model: ModelProto) -> None:
    """Remove in place what a runtime doesn't need: stack traces, local paths, node names."""
    body = model.graph
    del model.metadata_props[:], body.metadata_props[:], body.value_info[:]
    model.doc_string = body.doc_string = ""
    body.name = "policy"
    for node in body.node:
        node.name = ""
    for part in (*body.node, *body.input, *body.output, *body.initializer):
        del part.metadata_props[:]
        part.doc_string = ""

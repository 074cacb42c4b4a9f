"""What a bundle's manifest must say before anything of the bundle is believed.

Each check raises :class:`BundleError` with the field that is wrong. What isn't known is ignored, so
manifests may grow.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from dominozoo.bots.archive import MANIFEST, BundleError
from dominozoo.bots.levels import NAMES, UNMEASURED
from dominozoo.bots.network import ARCHITECTURE, Looks, Shape
from dominozoo.bots.truc_network import TRUC_ARCHITECTURE, TrucShape
from dominozoo.fields import Layout
from dominozoo.rules import LINE, TRUC, Rules, RulesError, make_rules, pack_line

FORMAT: Final = "dombot"
FORMAT_VERSION: Final = 1
READER: Final = 2  # goes up when bundles may need something that older readers can't do
# By family of games: the network, the table of actions, the first reader that knows them.
ARCHITECTURES: Final = {LINE: ARCHITECTURE, TRUC: TRUC_ARCHITECTURE}
ACTIONS: Final = {LINE: "line/1", TRUC: "truc/1"}
READERS: Final = {LINE: 1, TRUC: 2}

# What a manifest may leave out, or say null: by entry a type, [the type of each], {entry: type},
# or (one, another); a text stands for itself.
RESULT: Final = {
    **dict.fromkeys(("opponent", "unit", "opening"), str),
    **dict.fromkeys(("win_rate", "low", "high", "points"), float),
    **dict.fromkeys(("games", "seed"), int),
}
TENSOR: Final = {"name": str, "dtype": str, "shape": [(int, str)]}
OPTIONAL: Final[dict[str, Any]] = {
    "made_with": str,
    "game": {"title": str, "family": str},
    "observation": {"size": int, "seats": str},
    "actions": {
        "tiles": [str],
        **dict.fromkeys(("play", "pose", "equal_ends", "call"), str),
        **dict.fromkeys(("ends", "draw", "pass", "propose", "stand", "accept", "reject"), int),
    },
    "tensors": {"inputs": [TENSOR], "outputs": [TENSOR]},
    "network": {"hidden": [int], "value_hidden": [int], "weights": str, "rounding": float},
    "onnx": {"opset": int, "ir_version": int, "operators": [str]},
    "goal": str,
    "value": {"meaning": str, "unit": str, "horizon": str},
    "select": {"greedy": str, "sampled": str, "levels": str},
    "levels": {name: {"strength": (UNMEASURED, [RESULT])} for name in NAMES},
    "tolerance": {"readers": float, "vectors": float},
    "strength": ([RESULT], {}),
    "source": {"weights_sha256": str, "decisions": int, "seed": int, "goal": str},
}
WORDS: Final = {str: "a text", int: "a whole number", float: "a number"}


def canonical(value: object) -> bytes:
    """JSON in one fixed form, for checksums: sorted keys, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def rules_sha256(rules: Rules) -> str:
    """Checksum of a game with all its options, as manifests carry it."""
    return hashlib.sha256(canonical({"game": rules.game, "rules": rules.options})).hexdigest()


def field_table(layout: Layout) -> list[dict[str, Any]]:
    """An observation's fields as JSON: name, offset, shape, high, kind, scale, meaning."""
    return [
        {
            "name": f.name,
            "offset": layout.offset(f.name),
            "shape": list(f.shape),
            "low": 0,
            "high": f.high,
            "kind": f.kind,
            "scale": f.scale,
            "meaning": f.meaning,
        }
        for f in layout.fields
    ]


def section(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object of the manifest; BundleError if it isn't there."""
    found = manifest.get(name)
    if not isinstance(found, dict):
        raise BundleError(f"{MANIFEST}: {name} must be an object")
    return found


def check_optional(manifest: Mapping[str, Any]) -> None:
    """Refuse what a manifest needn't say but says wrongly, by the entry's name."""
    _check_object("", manifest, OPTIONAL)


def _check_object(place: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for name, kind in wanted.items():
        if found.get(name) is not None:
            _check_entry(f"{place}{name}", found[name], kind)


def _check_entry(place: str, found: Any, wanted: Any) -> None:
    kinds = wanted if isinstance(wanted, tuple) else (wanted,)
    kind = next((kind for kind in kinds if _is_of(found, kind)), None)
    if kind is None:
        words = " or ".join(_words(kind) for kind in kinds)
        raise BundleError(f"{MANIFEST}: {place} must be {words}")
    if isinstance(kind, dict):
        _check_object(f"{place}.", found, kind)
    elif isinstance(kind, list):
        for index, entry in enumerate(found):
            _check_entry(f"{place}[{index}]", entry, kind[0])


def _is_of(found: Any, kind: Any) -> bool:
    if isinstance(kind, str):
        return bool(found == kind)
    if isinstance(kind, dict | list):
        return isinstance(found, type(kind))
    return type(found) is kind or (kind is float and type(found) is int)


def _words(kind: Any) -> str:
    """A type of ``OPTIONAL`` in words."""
    if isinstance(kind, str):
        return repr(kind)
    if isinstance(kind, dict | list):
        return "an object" if isinstance(kind, dict) else "a list"
    return WORDS[kind]


def check_format(manifest: Mapping[str, Any]) -> None:
    """Refuse another format, or what a newer reader is needed for."""
    name, _, version = str(manifest.get("format")).partition("/")
    if name != FORMAT:
        raise BundleError(f"{MANIFEST}: format must be {FORMAT}/{FORMAT_VERSION}")
    if version != str(FORMAT_VERSION):
        raise BundleError(
            f"it has the format {FORMAT}/{version[:20]}, this version reads "
            f"{FORMAT}/{FORMAT_VERSION}: a newer dominozoo is needed"
        )
    needed = manifest.get("min_reader")
    if type(needed) is not int or needed < 1:
        raise BundleError(f"{MANIFEST}: min_reader must be a whole number from 1")
    if needed > READER:
        raise BundleError(
            f"it needs reader {needed}, this is {READER}: a newer dominozoo is needed"
        )
    for key in ("id", "version", "licence"):
        if not isinstance(manifest.get(key), str) or not manifest[key]:
            raise BundleError(f"{MANIFEST}: {key} must be a text")


def read_game(manifest: Mapping[str, Any]) -> Rules:
    """The game that a bundle plays."""
    game = section(manifest, "game")
    name, options = game.get("name"), game.get("rules")
    if not isinstance(name, str) or not isinstance(options, dict):
        raise BundleError(f"{MANIFEST}: game needs name and rules")
    try:
        rules = make_rules(name, **options)
    except (RulesError, TypeError) as error:
        raise BundleError(f"it plays a game that this version doesn't know: {error}") from None
    if rules.options != options or rules_sha256(rules) != game.get("rules_sha256"):
        raise BundleError(f"{MANIFEST}: game.rules don't fit rules_sha256")
    if str(rules) != game.get("text"):
        raise BundleError(f"{MANIFEST}: game.text is not {str(rules)!r}")
    return rules


def read_network(manifest: Mapping[str, Any], rules: Rules) -> Looks:
    """What its network looks at."""
    network, known = section(manifest, "network"), ARCHITECTURES[rules.variant.family]
    if network.get("architecture") != known:
        raise BundleError(
            f"its network is {str(network.get('architecture'))[:40]!r}, "
            f"this version computes {known!r}"
        )
    return shape_of(rules, network)


def shape_of(rules: Rules, network: Mapping[str, Any]) -> Looks:
    """What a network of a game looks at.

    Args:
        rules: the game.
        network: of a line game ``ends`` and ``seats``; Le Truc has one size.

    Raises:
        BundleError: if ends or seats are not the game's.
    """
    if rules.variant.family == TRUC:
        return TrucShape()
    ends, seats = int(pack_line(rules)[0]["ends"]), network.get("seats")
    if network.get("ends") != ends:
        raise BundleError(f"{MANIFEST}: network.ends is not that of {rules.game}")
    if type(seats) is not int or not rules.players <= seats <= 4:
        raise BundleError(f"{MANIFEST}: network.seats must be {rules.players}..4")
    return Shape(ends, seats)


def check_contract(manifest: Mapping[str, Any], rules: Rules, shape: Looks) -> None:
    """Refuse observations and actions that this version doesn't make."""
    observation, actions = section(manifest, "observation"), section(manifest, "actions")
    found = (observation.get("layout"), observation.get("version"))
    known = (shape.layout.name, shape.layout.version)
    if found != known:
        raise BundleError(
            f"it reads observation {str(found[0])[:20]}/{str(found[1])[:20]}, "
            f"this version makes {known[0]}/{known[1]}"
        )
    if _places(observation.get("fields")) != _places(field_table(shape.layout)):
        raise BundleError(f"{MANIFEST}: observation.fields are not those of {known[0]}/{known[1]}")
    table, count = ACTIONS[rules.variant.family], shape.action_count
    if (actions.get("table"), actions.get("count")) != (table, count):
        raise BundleError(
            f"its actions are {str(actions.get('table'))[:20]!r}, this game has {table!r} "
            f"with {count}"
        )


def _places(fields: Any) -> list[tuple[Any, ...]]:
    """A field table without its words."""
    keys = ("name", "offset", "shape", "low", "high", "kind", "scale")
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        return []
    return [tuple(field.get(key) for key in keys) for field in fields]

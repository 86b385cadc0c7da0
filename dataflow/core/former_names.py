"""Former names: what was stored or written before a name changed, and where public names lead to (S1.2).

Asked only for a name that is not found otherwise, since asking imports every installed pack.
"""

from __future__ import annotations

import logging
from collections import Counter
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import Interruption
from dataflow.core.discovery import GROUP, OURS, Offer, fault_of, is_same_distribution, offers
from dataflow.core.public_names import package_of, public_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["current_name", "former_names", "listed_ids", "place_of"]

LOG: Final = logging.getLogger("dataflow.former")
#: What stores and documents of before name of the engine, by the modules that were part of the names.
FORMER: Final = {
    "dataflow.asks": "Ask Request",
    "dataflow.context": "ExecutionContext Tools Variables",
    "dataflow.deciding": "checked_answer",
    "dataflow.differing": "Difference DifferenceKind Differences",
    "dataflow.events": "Event EventKind",
    "dataflow.expressions.expression": "Expression ExpressionFunction ExpressionOf Template",
    "dataflow.failure": "Failure",
    "dataflow.formats.gates": "gate_type.<locals>.loop",
    "dataflow.history": "History Part",
    "dataflow.merging": (
        "_answers _append _pick _results _shared _variables _with_new_pins merge_live merged_context"
    ),
    "dataflow.messages": "Image Message ToolCall",
    "dataflow.node_output": "NodeOutput",
    "dataflow.policy": "EachOptions Limit Memo Policy Retry Settings Telemetry",
    "dataflow.ports": "InPort OutPort Port PortKind Ports Signal",
    "dataflow.reasons": "Explanation Reason ReasonKind",
    "dataflow.result": "Result",
    "dataflow.secret": "Secret",
    "dataflow.states": "LoopEnd NodeState RunStatus",
    "dataflow.stores.store": "Answer Batch Record StoredAsk StoredRun",
    "dataflow.tokens": "Errored Remembered Skip",
    "dataflow.wiring": (
        "All Collect Each Every Fallback Gather Literally Many Merge MergeContexts Race Reference"
    ),
}


def former_names() -> Mapping[str, str]:
    """Return what the engine and the installed packs have renamed: former names to those of now."""
    found: dict[str, str] = {}
    for _, pack in _packs():
        found = {**pack.former, **found}
    own = {
        f"{module}:{name}": f"dataflow:{name}" for module, names in FORMER.items() for name in names.split()
    }
    return {**found, **own}


def current_name(name: str) -> str:
    """Return what a former name is called now, any other name as it is."""
    return former_names().get(name, name)


def listed_ids() -> Mapping[str, str]:
    """Return the ids `pack.name` of the types that the installed packs list, by the names of their functions.

    Former names of these lead to them too. What several distributions offer under one id is left out.
    """
    packs = list(_packs())
    often = Counter(offer.pack for offer, _ in packs)
    found = {
        own: f"{offer.pack}.{listed}"
        for offer, pack in reversed(packs)
        for listed, own in pack.functions.items()
        if often[offer.pack] == 1
    }
    return found | {old: found[now] for old, now in former_names().items() if now in found}


def place_of(name: str) -> str | None:
    """Return as `module:qualname` where a function is that its name does not lead to; None if nowhere.

    A name of now leads to what its package has, and to what its pack lists; a former one first to the latter.
    """
    current = current_name(name)
    found = [*_public_places(current), *_listed_places(current)]
    if current != name:
        return found[-1] if found else current
    return found[0] if found else None


def _public_places(name: str) -> Iterator[str]:
    prefix, _, qualname = name.partition(":")
    for offer, _ in _packs():
        package = package_of(offer.value.partition(":")[0]) if offer.pack == prefix else None
        named = package is not None and public_module(package.__name__) == prefix
        if package is not None and named and hasattr(package, qualname.partition(".")[0]):
            yield f"{package.__name__}:{qualname}"


def _listed_places(name: str) -> Iterator[str]:
    for _, pack in _packs():
        for listed, own in pack.functions.items():
            if own == name and isinstance(pack.nodes[listed], str):
                yield pack.nodes[listed]


def _packs() -> Iterator[tuple[Offer, Any]]:
    """Import the packs that are installed, ours first: nobody else renames what is ours."""
    for offer in sorted(offers(), key=lambda one: not is_same_distribution(one.distribution, OURS)):
        if fault_of(offer) is None:
            try:
                pack: Any = metadata.EntryPoint(offer.pack, offer.value, GROUP).load()
            except (KeyboardInterrupt, Interruption):
                raise
            except BaseException as error:  # noqa: BLE001 - whatever it raises; who uses the pack is told
                LOG.debug("pack %s of %s names nothing: %s", offer.pack, offer.label, error)
                continue
            if hasattr(pack, "former") and hasattr(pack, "functions"):
                yield offer, pack

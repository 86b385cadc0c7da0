"""Resolve former names in stores and documents, and find functions by their public names (S1.2).

Used only for a name that is not found otherwise, since it imports every installed pack.
"""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Final

from dataflow.base.failure import Interruption
from dataflow.base.logs import masked_logger
from dataflow.core.discovery import GROUP, OURS, Offer, defect_of, fault_of, offers
from dataflow.core.distributions import is_same_distribution
from dataflow.core.public_names import moved_names, package_of, public_module

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["current_name", "former_names", "generations", "listed_ids", "place_of"]

LOG: Final = masked_logger("dataflow.former")
#: Names of the engine in older stores and documents, by the module that was part of the name.
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
    """Return the current names by former name, of the engine and the installed packs."""
    found: dict[str, str] = {}
    for _, pack in _packs():
        found = {**pack.former, **found}
    return _followed({**found, **moved_names("dataflow", FORMER)})


def _followed(names: Mapping[str, str]) -> Mapping[str, str]:
    """Map each former name to the end of its chain of names: what was renamed may be renamed again."""
    found: dict[str, str] = {}
    for former, now in names.items():
        seen, last = {former}, now
        while last not in seen and last in names:
            seen.add(last)
            last = names[last]
        found[former] = last
    return found


def generations() -> Sequence[Mapping[str, str]]:
    """Return the former names by current name, one mapping for each time that a name has been changed.

    A pack lists the former names of one class or function oldest first. A name that has changed less often
    than others is in the mappings of the first changes in one version, of the last ones in the other.
    """
    names: dict[str, list[str]] = {}
    for former, now in former_names().items():
        names.setdefault(now, []).append(former)
    most = max(map(len, names.values()), default=0)
    found: list[Mapping[str, str]] = []
    for back in range(most):
        latest = {now: olds[max(0, len(olds) - 1 - back)] for now, olds in names.items()}
        first = {now: olds[most - 1 - back] for now, olds in names.items() if most - 1 - back < len(olds)}
        found += [latest] if latest == first else [latest, first]
    return found


def current_name(name: str) -> str:
    """Return the current name of a former name; any other name unchanged."""
    return former_names().get(name, name)


def listed_ids() -> Mapping[str, str]:
    """Return the ids `pack.name` of the node types in the installed packs, by the names of their functions.

    The locations that packs give and former names are included. Packs that several distributions offer under
    one name are left out.
    """
    packs = list(_packs())
    often = Counter(offer.pack for offer, _ in packs)
    usable = [(offer.pack, pack) for offer, pack in reversed(packs) if often[offer.pack] == 1]
    found = {own: f"{name}.{listed}" for name, pack in usable for listed, own in pack.functions.items()}
    found |= {
        given: f"{name}.{listed}"
        for name, pack in usable
        for listed, given in pack.nodes.items()
        if isinstance(given, str)
    }
    return found | {old: found[now] for old, now in former_names().items() if now in found}


def place_of(name: str) -> str | None:
    """Return the location, `module:qualname`, of a function with a public or former name, or None.

    A current name is looked up in its package first, a former one in the list of its pack.
    """
    current = current_name(name)
    found = [*_public_places(current), *_listed_places(current)]
    if current != name:
        return found[-1] if found else current
    return found[0] if found else None


def _public_places(name: str) -> Iterator[str]:
    prefix, _, qualname = name.partition(":")
    for offer in _offers():
        if offer.pack != prefix or defect_of(offer) is not None:
            continue
        module = offer.value.partition(":")[0].strip()
        try:
            importlib.import_module(module)
            package = package_of(module)
            named = package is not None and public_module(package.__name__) == prefix
        except (KeyboardInterrupt, Interruption):
            raise
        except BaseException as error:  # noqa: BLE001 - any error; using the pack reports it
            LOG.debug("pack %s of %s has no public names: %s", offer.pack, offer.label, error)
            continue
        if package is not None and named and hasattr(package, qualname.partition(".")[0]):
            yield f"{package.__name__}:{qualname}"


def _is_ours(offer: Offer) -> bool:
    return is_same_distribution(offer.distribution, OURS)


def _offers() -> list[Offer]:
    """List the offers, ours first, so that no other pack can rename what is ours."""
    return sorted(offers(), key=lambda offer: not _is_ours(offer))


def _listed_places(name: str) -> Iterator[str]:
    for _, pack in _packs():
        for listed, own in pack.functions.items():
            if own == name and isinstance(pack.nodes[listed], str):
                yield pack.nodes[listed]


def _packs() -> Iterator[tuple[Offer, Any]]:
    """Import the installed packs.

    Disabled packs are included if they are ours or imported already: disabling a pack withdraws its node
    types, but does not rename its classes and functions.
    """
    for offer in _offers():
        if (defect_of if _has_names(offer) else fault_of)(offer) is None:
            try:
                pack: Any = EntryPoint(offer.pack, offer.value, GROUP).load()
            except (KeyboardInterrupt, Interruption):
                raise
            except BaseException as error:  # noqa: BLE001 - any error; using the pack reports it
                LOG.debug("pack %s of %s names nothing: %s", offer.pack, offer.label, error)
                continue
            if hasattr(pack, "former") and hasattr(pack, "functions"):
                yield offer, pack


def _has_names(offer: Offer) -> bool:
    """Return whether the names of a pack count even if it is disabled."""
    module = offer.value.partition(":")[0]
    return _is_ours(offer) or module in sys.modules or package_of(module) is not None

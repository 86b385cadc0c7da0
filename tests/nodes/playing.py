"""Playing a type of a pack: called as the function it is, and as a node of a flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dataflow import Config, Diagnostic, Flow, RunFailed


async def through_flow(function: Any, inputs: Mapping[str, Any], config: Config | None = None) -> Any:
    """Give the inputs of a flow to a node of it; raises what the node does."""
    with Flow() as flow:
        ports = {name: flow.input(name, Any) for name in inputs}
        settings: dict[str, Any] = {} if config is None else {"config": config}
        flow.output("out", flow.add(function, **settings, **ports).out)
    try:
        return (await flow.run(**inputs))["out"]
    except RunFailed as failed:
        raise failed.__cause__ or failed from None


async def played(function: Any, config: Config | None = None, /, **inputs: Any) -> Any:
    """Return what a node gives, or what it raises, alone and in a flow."""
    settings = {} if config is None else {"config": config}
    alone = await _outcome(function(**settings, **inputs))
    flowing = await _outcome(through_flow(function, inputs, config))
    if isinstance(alone, Exception):
        assert (type(flowing), str(flowing)) == (type(alone), str(alone))
    else:
        assert (type(flowing), flowing) == (type(alone), alone)
    return alone


async def _outcome(work: Any) -> Any:
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - it is held against what is expected
        return error


def problems_of(function: Any, config: Mapping[str, Any], /, **ports: Any) -> list[Diagnostic]:
    flow = Flow()
    flow.add(function, config=config, **ports)
    return flow.check()

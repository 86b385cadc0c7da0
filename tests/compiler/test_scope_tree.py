"""Addresses of nodes: their paths without rounds, items and attempts (S2.2)."""

from __future__ import annotations

import pytest

from dataflow import RunFailed
from dataflow.compiler.addresses import address_of, form_of, scopes_of
from dataflow.core.events import EventKind
from tests.properties.playing import flow_of
from tests.properties.random_flows import sample


@pytest.mark.parametrize("first", range(0, 40, 10))
async def test_every_firing_is_at_the_address_of_a_node_and_has_the_form_of_one(first: int) -> None:
    for seed in range(first, first + 10):
        await check_paths(seed)


async def check_paths(seed: int) -> None:
    program = sample(seed)
    flow = flow_of(program.document)
    paths = set[str]()
    try:
        async with flow.start(**program.inputs) as run:
            async for event in run.events():
                if event.kind == EventKind.NODE_FINISHED:
                    paths.add(str(event.path))
    except RunFailed:
        pass  # its firings have paths too
    known = [
        (scope, node) for scope in scopes_of(flow.compile()) for node in scope.plan.nodes if node.is_visible
    ]
    forms = [scope.form_of(node) for scope, node in known]
    assert paths
    assert {address_of(path) for path in paths} <= {scope.address_of(node) for scope, node in known}
    assert {form_of(path) for path in paths} <= {*forms}
    assert len({*forms}) == len(forms)

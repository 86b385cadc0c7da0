"""Addresses of nodes: their paths without rounds, items and attempts (S2.2)."""

from __future__ import annotations

import pytest

from dataflow import RunFailed
from dataflow.compiler.addresses import address_of, form_of, scopes_of
from dataflow.core.events import EventKind
from tests.properties.playing import flow_of
from tests.properties.random_flows import sample

#: Paths with their addresses and forms.
PATHS = [
    ("a", "a", "a"),
    ("refine[2]/parts", "refine/parts", "refine[]/parts"),
    ("sub~2/refine[2]/summarise[0]", "sub/refine/summarise", "sub/refine[]/summarise[]"),
    ("summarise[0][12]", "summarise", "summarise[][]"),
    ("summarise[a%5D%7E2]/chat", "summarise/chat", "summarise[]/chat"),
    ("a%5B0%5D%7E2", "a%5B0%5D%7E2", "a%5B0%5D%7E2"),
]


def test_addresses_and_forms_are_paths_without_attempts_and_keys() -> None:
    for path, address, form in PATHS:
        assert (address_of(path), form_of(path)) == (address, form)


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

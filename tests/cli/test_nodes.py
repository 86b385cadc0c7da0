"""`nodes`: the list of node types, and one of them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.cli.conftest import Cli
from tests.support.processes import install

PACKS = """
from dataflow import Config, Maybe, Pack, Ports, node
from pydantic import Field

class Size(Config):
    width: int = Field(3, description="Columns.")
    names: list[str] = []
    depth: float

@node(ports=lambda config: Ports(inputs={name: int for name in config.names} if config else {}), retries=2)
async def draw(text: str, *more: int, config: Size, **other: int) -> Maybe[str]:
    '''Draw a text.

    The widths are in columns, and this paragraph is long enough to be wrapped on a narrow terminal.

        kept as it is, however long the line may be
    '''
    return text

good = Pack("shots", version="1.0", api=1, nodes={"draw": "made_up_shots:draw", "far": "made_up_far:far"})
empty = Pack("empty", version="1.0", api=1, nodes=[])
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "made_up_shots.py").write_text(PACKS, encoding="utf-8")
    entries = "shots = made_up_shots:good\nempty = made_up_shots:empty\nlost = made_up_nowhere:lost\n"
    install(tmp_path, "shots-extra", entries, "1.2")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("DATAFLOW_DISABLE_PACKS", raising=False)
    yield tmp_path
    sys.modules.pop("made_up_shots", None)


def test_the_list_has_every_pack_and_what_is_wrong_with_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done = cli("nodes")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    built_in = ["ask", "context", "if", "switch", "user_input"]
    assert lines[:6] == ["built in", *(f"  control.{name}" for name in built_in)]
    place = lines.index("shots (shots-extra 1.2)")
    assert lines[place : place + 3] == ["shots (shots-extra 1.2)", "  shots.draw", "  shots.far"]
    assert "empty (shots-extra 1.2): has no node types" in lines
    start = "lost (shots-extra 1.2): error: DF0428 made_up_nowhere:lost: "
    assert any(line.startswith(start) for line in lines)
    monkeypatch.setenv("DATAFLOW_DISABLE_PACKS", "shots")
    told = "shots (shots-extra 1.2): DF1315 is disabled by DATAFLOW_DISABLE_PACKS=shots\n"
    assert cli("nodes", "shots").out == told


def test_the_list_tells_on_demand_where_a_pack_failed(cli: Cli) -> None:
    assert "Traceback" not in cli("nodes").err
    done = cli("nodes", "--traceback")
    assert done.err.startswith("Traceback (most recent call last)")
    assert done.err.endswith("ModuleNotFoundError: No module named 'made_up_nowhere'\n")


def test_the_list_as_json(cli: Cli, snapshot: SnapshotAssertion) -> None:
    assert cli("nodes", "shots", "--json").json == snapshot
    (lost,) = cli("nodes", "lost", "--json", "--traceback").json["packs"]
    assert (lost["status"], lost["traceback"].splitlines()[0]) == (
        "error",
        "Traceback (most recent call last):",
    )


def test_ids_that_two_offer_are_told(cli: Cli, installed: Path) -> None:
    install(installed, "another", "shots = made_up_shots:good\n")
    done = cli("nodes", "shots")
    assert "warning: shots.draw is offered by another 1.0 and shots-extra 1.2" in done.err.splitlines()
    assert cli("nodes", "shots", "--json").json["offered_twice"]["shots.far"] == [
        "another 1.0",
        "shots-extra 1.2",
    ]


def test_a_type_is_described(cli: Cli, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert cli("nodes", "shots.draw").out == snapshot
    found = cli("nodes", "shots.draw", "--json").json
    assert found.pop("config")["properties"]["width"]["description"] == "Columns."
    assert found == snapshot
    monkeypatch.setenv("COLUMNS", "100")
    lines = cli("nodes", "agent.chat").out.splitlines()
    assert "(the ports of the config as it stands below; other values may make others)" in lines
    assert lines[lines.index("inputs") + 1] == "  context: ExecutionContext = None (context)"
    for name, code in {"control.if": 0, "control.read_text": 0, "json:dumps": 1}.items():
        done = cli("nodes", name)
        assert (done.code, "Traceback" in done.err) == (code, False)


def test_unknown_types_are_reported(cli: Cli) -> None:
    for name in ("shot", "shots.drew", "a.b", ".", "shots.far"):
        done = cli("nodes", name)
        assert (done.code, done.out, len(done.codes)) == (1, "", 1)
        assert "Traceback" in cli("nodes", name, "--traceback").err or "." not in name


ODD = """
from collections.abc import Callable
from typing import Any
from dataflow import Config, Retry, node

class Odd:
    def __repr__(self) -> str:
        raise SystemExit(3)

class Holds(Config):
    model_config = {"arbitrary_types_allowed": True}
    call: Callable[[int], int] = print
    odd: Any = Odd()

async def holds(config: Holds, x: Any = Odd()) -> int: ...

@node(default=Odd())
async def defaulted(x: float = float("nan")) -> Any: ...

@node(retries=Retry(2, before=print, on=["rate_limit"]), timeout=2.5)
async def tried(x: int) -> Any: ...
"""


@pytest.mark.parametrize("name", ["holds", "defaulted", "tried"])
@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_a_type_with_odd_settings_is_described(
    cli: Cli, installed: Path, name: str, arguments: list[str]
) -> None:
    (installed / "odd_types.py").write_text(ODD, encoding="utf-8")
    done = cli("nodes", f"odd_types:{name}", *arguments)
    assert (done.code, done.err) == (0, "")
    if arguments:
        json.loads(done.out, parse_constant=lambda constant: pytest.fail(constant))
    elif name == "tried":
        assert "retries" in done.out
        assert "timeout: 2.5" in done.out


TYPES = """
from dataflow import Config
from dataflow.authoring import TypeField
from pydantic import Field

class Typed(Config):
    plain: TypeField = str
    items: TypeField = Field(list[int], description="Of items.")
    named: TypeField = "integer"
    wanted: TypeField

async def typed(config: Typed) -> None: ...
"""


def test_a_field_that_holds_a_type_has_its_default_as_documents_write_it(cli: Cli, installed: Path) -> None:
    (installed / "field_types.py").write_text(TYPES, encoding="utf-8")
    lines = cli("nodes", "field_types:typed").out.splitlines()
    assert lines[lines.index("config") + 1 :] == [
        "  plain: a type = 'string'",
        "  items: a type = {'items': {'type': 'integer'}, 'type': 'array'}  Of items.",
        "  named: a type = 'integer'",
        "  wanted: a type",
    ]


def test_an_entry_point_that_names_nothing_is_told(cli: Cli, installed: Path) -> None:
    values = ["!!!", "module", ":object", "a b:c"]
    for number, value in enumerate(values):
        install(installed, f"nothing-{number}", f"void{number} = {value}\n")
        told = cli("nodes", f"void{number}").out
        assert told.startswith(f"void{number} (nothing-{number} 1.0): error: DF1317 ")
        assert told.endswith(f"expected module:object, found {value!r}\n")

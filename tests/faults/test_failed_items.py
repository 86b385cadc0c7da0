"""F-I05: the progress has the reason of a failure that the options of a map handle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from dataflow.cli import main

FLOW: Final = """
from dataflow import Flow, collect, each, node

async def strict(x: int) -> int:
    if x == 3:
        raise ValueError("three is not taken")
    return x

def made(on_error):
    with Flow(on_error) as flow:
        flow.output("o", collect(flow.add(strict, x=each([1, 3], on_error=on_error)).out))
    return flow

skip, gathered = made("skip"), made("collect")
with Flow("default") as default:
    again = node(strict).with_(default=0)
    default.output("o", collect(default.add(again, x=each([1, 3])).out))
with Flow("routed") as routed:
    step = routed.add(node(strict).with_(on_error="route"), x=each([1, 3]))
    routed.output("o", collect(step.error))
"""


@pytest.mark.parametrize("name", ["skip", "gathered", "default", "routed"])
def test_each_failed_item_has_its_reason(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.py").write_text(FLOW)
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(["run", f"f.py:{name}", "--no-store"]))
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("failed ")]
    assert (ended.value.code or 0, len(lines)) == (0, 1)
    assert "strict[1]" in lines[0]
    assert "ValueError: three is not taken" in lines[0]
    with pytest.raises(SystemExit):
        raise SystemExit(main(["run", f"f.py:{name}", "--no-store", "--json"]))
    written = json.loads(capsys.readouterr().out)
    [handled] = written["handled"]
    assert (written["failures"], handled["path"], handled["type"]) == ([], "strict[1]", "ValueError")

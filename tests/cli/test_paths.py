"""Keys of items are decoded for people, and taken in both forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from dataflow.cli import main
from dataflow.cli.paths import path_text, read_path
from dataflow.core.wiring import encode
from dataflow.stores import Store

#: Paths, and as people read them.
PATHS: Final = [
    ("read[src%2Fmain%2Epy]/ask", "read[src/main.py]/ask"),
    ("a%2Fb[x%20y%24]", "a%2Fb[x y$]"),
    ("read[a%5B1%5D%7E%25%09]", "read[a%5B1%5D%7E%25%09]"),
    (f"read[{encode('%2E.')}]", "read[%252E.]"),
    ("loop[0]/all~2/item[é\x9b]", "loop[0]/all~2/item[é\\x9b]"),
]
FLOW: Final = """
from dataflow import Flow, collect, each

async def read(file: str) -> str:
    if file == "b.py":
        raise ValueError("no")
    return file

with Flow("f") as flow:
    file = flow.add(read, file=each(["src/a.py", "b.py"], key=str, on_error="skip"))
    flow.output("o", collect(flow.ask(str, "?", name="ask", show=file.out).out))
"""


@pytest.mark.parametrize(("path", "text"), PATHS)
def test_what_people_read_means_one_path(path: str, text: str) -> None:
    assert path_text(path) == text
    if "\\" not in text:
        assert (read_path(text), read_path(path)) == (path, path)


def test_commands_show_decoded_keys_and_take_both_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(*arguments: str) -> str:
        with pytest.raises(SystemExit):
            raise SystemExit(main([*arguments]))
        return "".join(capsys.readouterr())

    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.py").write_text(FLOW)
    text = call("run", "f.py")
    [run] = [found.id for found in Store.sqlite(tmp_path / ".dataflow" / "runs.db").runs()]
    failed, ask = "read[b.py]", "read[src/a.py]/ask"
    shown = call("runs", "show", run)
    assert "[b.py]" in shown
    assert (failed in text, ask in text, ask in shown, ask in call("asks")) == (True, True, True, True)
    for form in (failed, "read[b%2Epy]"):
        assert failed in call("why", run, form)
        assert failed in call("runs", "show", run, form)
    assert "%" not in text + shown + call("why", run, f"{failed}.out")
    assert json.loads(call("runs", "show", run, failed, "--json"))["path"] == "read[b%2Epy]"
    assert json.loads(call("asks", "--json"))["asks"][0]["id"] == "read[src%2Fa%2Epy]/ask"
    assert ask in call("answer", run, f"{ask}=x")
    assert 'o: ["x"]' in call("resume", run)
    assert 'o: ["y"]' in call("fork", run, "--change", f"{ask}=y")

"""F-R07: an answer with a known secret is not left in a store in clear."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

from dataflow import AnswerRefused, Flow, Secret, Store
from dataflow.cli import main
from dataflow.stores import Answer
from tests.support.known_secrets import forgetting

VALUE: Final = 'plain "secret" 12345'


@pytest.fixture(autouse=True)
def _known() -> Iterator[None]:
    with forgetting():
        Secret("KEY", VALUE).reveal()
        yield


def asking(store: Store) -> Flow:
    with Flow("f") as flow:
        flow.output("q", flow.ask(str, "?", name="q").out)
    return flow.using(store=store)


FORMS: Final = [
    json.dumps(f"Bearer {VALUE}"), json.dumps(json.dumps(VALUE)), json.dumps({"a": [{VALUE: 1}]}), VALUE,
    json.dumps(base64.b64encode(f"user:{VALUE}".encode()).decode()), json.dumps(quote(VALUE)),
]  # fmt: skip


async def test_an_answer_with_a_secret_is_refused_in_each_encoding(tmp_path: Path) -> None:
    for store in (Store.memory(), Store.sqlite(tmp_path / "runs.db")):
        result = await asking(store).run()
        for form in FORMS:
            with pytest.raises(AnswerRefused) as refused:
                store.answer(result.run_id, Answer("other", '"harmless"'), Answer("q", form))
            assert refused.value.code == "DF1184", form
        assert not store.inbox(result.run_id)
        resumed = await asking(store).resume(result.run_id, {"q": VALUE})  # is stored with marks
        assert resumed["q"] == VALUE
        assert VALUE not in json.dumps([json.loads(one.data) for one in store.records(result.run_id)])
    assert b"plain" not in b"".join(file.read_bytes() for file in tmp_path.glob("runs.db*[!s]"))  # noqa: ASYNC240


async def test_an_answer_that_is_the_name_of_a_secret_is_taken() -> None:
    store = Store.memory()
    with Flow("f") as flow:
        flow.output("q", flow.ask(Secret, "?", name="q").out)
    result = await flow.using(store=store).run()
    store.answer(result.run_id, Answer("q", '"KEY"'))
    resumed = await flow.using(store=store).resume(result.run_id)
    assert resumed["q"] == Secret("KEY")


def test_the_command_line_refuses_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "runs.db"
    run = asking(Store.sqlite(path)).run_sync().run_id
    assert main(["answer", run, f"q={VALUE}", "--store", str(path)]) == 2
    assert "DF1184" in capsys.readouterr().err
    assert Store.sqlite(path).inbox(run) == []

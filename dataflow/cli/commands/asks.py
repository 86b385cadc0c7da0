"""`dataflow asks` and `dataflow answer`: list open asks, and answer them (S11.2)."""

from __future__ import annotations

import getpass
import json
import sys
from functools import partial
from typing import TYPE_CHECKING

from dataflow.base.wording import counted, listed, visible
from dataflow.cli.output import ExitCode, Refused, tell, write
from dataflow.cli.paths import path_text
from dataflow.cli.storage import (
    AnswersArgument,
    JsonObjectOption,
    RunArgument,
    StoreOption,
    command_for,
    find_run,
    missing_store,
    open_store,
    read_store,
    refusing_runs,
)
from dataflow.diagnostics.commands import NOTHING_ANSWERED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dataflow.diagnostics.diagnostic import Diagnostic
    from dataflow.inspection.open_asks import OpenAsk

__all__ = ["answer", "asks"]


def asks(as_json: JsonObjectOption = False, store: StoreOption = None) -> None:
    """List the open asks of all runs: run, ask, type of the answer, prompt, and below it the shown value."""
    from dataflow.cli.asks import ask_lines  # loaded on first use
    from dataflow.inspection.open_asks import asks_of

    place = read_store(store)
    with refusing_runs():
        found = asks_of(place)
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        rows = [{"run": ask.run, **ask.as_json(), "answered": ask.is_answered} for ask in found]
        write_json(sys.stdout, {"asks": rows})
        return
    if found:
        write(sys.stdout, "\n".join(visible(ask_lines(ask, names_run=True)) for ask in found))
    count = counted(sum(not ask.is_answered for ask in found), "open ask")
    missing = missing_store(store)
    tell(f"{count}: {missing}" if missing else count)


def answer(
    run: RunArgument,
    answers: AnswersArgument = None,
    as_json: JsonObjectOption = False,
    store: StoreOption = None,
) -> None:
    """Answer open asks of a run; if one answer is refused, none is recorded.

    A run that is being executed reads the answers when it writes its next step, any other when it is resumed.
    """
    from dataflow.cli.asks import read_answers  # loaded on first use
    from dataflow.inspection.open_asks import asks_of, ended_asks
    from dataflow.stores import Answer

    place = open_store(store)
    found = find_run(place, run, store)
    with refusing_runs():
        open_asks = asks_of(place, found.id)
    if not answers:
        raise Refused([_none_given(open_asks)], ExitCode.USAGE)
    values = read_answers(found.id, open_asks, answers, partial(ended_asks, place, found.id))
    by = _user()
    with refusing_runs():
        place.answer(found.id, *(Answer(id, json.dumps(value), by) for id, value in values.items()))
    left = [ask.id for ask in open_asks if not ask.is_answered and ask.id not in values]
    if as_json:
        from dataflow.cli.json_output import write_json  # loaded on first use

        write_json(
            sys.stdout, {"run": found.id, "status": found.status, "answered": list(values), "open": left}
        )
        return
    more = f"; still open: {listed(map(path_text, left), len(left))}" if left else ""
    tell(f"answered {listed(map(path_text, values), len(values))}{more}")
    if found.status == "running":
        tell(f"run {found.id} is being executed: it takes that when its next step is written")
    else:
        tell(f"go on with: {command_for('resume', found.id, store=store)}")


def _none_given(asks: Sequence[OpenAsk]) -> Diagnostic:
    return NOTHING_ANSWERED(available=[ask.id for ask in asks if not ask.is_answered])


def _user() -> str:
    """Return the name of the user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the user id has no name
        return ""

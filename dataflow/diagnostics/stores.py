"""Problems of stores and the runs in them (DF11)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

RUN_TAKEN: Final = Kind(
    "DF1101",
    "is being executed by another process or task",
    meaning="Only one process or task can execute a run, and another one does.",
    example="dataflow resume RUN   # in two terminals",
    cure="Wait until the other one has ended, or cancel the run.",
)
RUN_MISSING: Final = Kind(
    "DF1102",
    "has no run {run!r}",
    meaning="A store does not have the run that was named.",
    example='Store.sqlite("runs.db").find("no-such-run")',
    cure="Name one of the runs that `dataflow runs` lists, or the store that has the run.",
)
RUN_EXISTS: Final = Kind(
    "DF1103",
    "already has a run {run!r}",
    meaning="A run cannot be begun under an id that another run of the store has.",
    example="store.begin(run)   # twice with the same `run.id`",
    cure="Give the new run another id, or delete the old one.",
)
RECORD_EXISTS: Final = Kind(
    "DF1104",
    "already has one of the records; nothing was written",
    meaning="A batch has a record with the number of a record that the journal of the run already has.",
    example='store.commit("run", Batch([record]))   # twice',
    cure="Own the run with `hold`, read its journal, and continue with the next number.",
)
BLOB_MISSING: Final = Kind(
    "DF1105",
    "has no blob {name}",
    meaning="A value refers to a blob that the store does not have.",
    example='store.blob("0" * 64)',
    cure="Restore the store from a backup, or run the flow again.",
)
ENTRY_DAMAGED: Final = Kind(
    "DF1106",
    "{what} {name} is damaged: {why}",
    meaning="What is stored under this name is not what was written: it was changed, or a part is gone.",
    example="store.blob(name)   # after the file was changed by something else",
    cure="Restore the store from a backup, or run the flow again. A damaged outcome is computed again.",
)
FILE_UNUSABLE: Final = Kind(
    "DF1107",
    "cannot be used: {error}",
    hint="{advice}",
    meaning="SQLite or the operating system cannot open, read or write the file of a store.",
    example='Store.sqlite("notes.txt").runs()   # a file that is not a database',
    cure="Check that the file is a store, that it and its folder can be written, and that the disk has room.",
)
FILE_NOT_A_STORE: Final = Kind(
    "DF1108",
    "is empty, or an SQLite file of something else",
    hint="name another file, or remove it if it is not needed",
    meaning="The file exists, but no store was created in it.",
    example="touch runs.db; dataflow runs --store runs.db",
    cure="Name another file; a store creates its file itself.",
)
FILE_FORKED: Final = Kind(
    "DF1109",
    "was in use when this process was forked",
    hint="use it in a process that is started with `spawn`",
    meaning="SQLite forbids using a file in a process that was forked during a transaction, for which the "
    "engine waits for 5 seconds.",
    example='multiprocessing.get_context("fork").Process(target=flow.run_sync).start()   # during a `prune`',
    cure='Use `multiprocessing.get_context("spawn")`.',
)
FILE_REPLACED: Final = Kind(
    "DF1110",
    "was removed or replaced while a run was being executed",
    hint="put it back, or start the run again",
    meaning="The file of a store is no longer the one that a run in progress has opened.",
    example="rm runs.db   # during a run",
    cure="Put the file back and resume the run, or start the run again.",
)
LATER_RELEASE: Final = Kind(
    "DF1111",
    "was written by a later release",
    hint="use the release that wrote it, or a later one",
    meaning="A store, or a run in it, has a format that this release does not know.",
    example="dataflow runs   # of a store that a newer dataflow has written",
    cure="Upgrade dataflow to the release that wrote it, or a later one.",
)
STORE_FAILED: Final = Kind(
    "DF1112",
    "raised {error}",
    meaning="The class of a store raised an exception that is not a StoreError.",
    example="class MyStore(Store): ...   # whose `begin` raises a KeyError",
    cure="Correct the store; the tests of `dataflow.testing` show what each method has to do.",
)
RUN_SUPERSEDED: Final = Kind(
    "DF1113",
    "has been resumed by another process or task",
    meaning="Another process or task resumed the run in the moment in which it was to be resumed here.",
    example="dataflow resume RUN   # in two terminals at the same time",
    cure="Look at the run with `dataflow runs show RUN`; resume it again if it has paused.",
)
RUN_ENDED: Final = Kind(
    "DF1114",
    "is {status}, so it cannot be {what}",
    meaning="A run that has ended can neither be resumed nor cancelled.",
    example="dataflow resume RUN   # of a run that has completed",
    cure="Start a new run, or fork this one with changes: `dataflow fork RUN`.",
)
RUN_EMPTY: Final = Kind(
    "DF1115",
    "ended before anything of it was written",
    hint="start it again",
    meaning="The process of a run ended before its first record was written, so there is nothing to resume.",
    example="dataflow resume RUN   # of a run that was killed in its first moment",
    cure="Start the run again.",
)
RECORD_UNREADABLE: Final = Kind(
    "DF1116",
    "record {seq} cannot be read, though others follow it",
    hint="restore the store from a backup",
    meaning="A record in the middle of the journal of a run is malformed, so the run cannot be resumed.",
    example="dataflow resume RUN   # after the store was edited by hand",
    cure="Restore the store from a backup, or start the run again.",
)
RECORD_CUT: Final = Kind(
    "DF1117",
    "the newest record of the run is incomplete and was dropped",
    meaning="The process of a run ended while it was writing; what its last record reported happens again.",
    example="dataflow resume RUN   # after the power failed during a run",
    cure="Nothing has to be done; a node with effects may have been called without a record of it.",
)
SIGNATURE_MALFORMED: Final = Kind(
    "DF1118",
    "is not a graph signature: {error}",
    hint="restore the store from a backup",
    meaning="What a run has stored of the graph of its flow is malformed, so edits cannot be found.",
    example="dataflow resume RUN   # after the store was edited by hand",
    cure="Restore the store from a backup, or start the run again.",
)
ANSWER_TOO_LATE: Final = Kind(
    "DF1119",
    "the ask has been answered or closed",
    meaning="An ask takes one answer, and none after it has expired or its run was cancelled.",
    example='store.answer("run", answer)   # twice',
    cure="Look at the open asks with `dataflow asks`.",
)
ANSWER_PENDING: Final = Kind(
    "DF1120",
    "the ask already has an answer, which is pending",
    hint="resume the run without this answer",
    meaning="An answer that was stored for an ask is used when the run is resumed, so no other is taken.",
    example="dataflow resume RUN ask=2   # after `dataflow answer RUN ask=1`",
    cure="Resume the run without an answer to this ask.",
)
NODE_NOT_IN_RUN: Final = Kind(
    "DF1121",
    "has no node {name!r}",
    meaning="A node was named that neither the journal of the run nor its flow has.",
    example="dataflow runs show RUN laod",
    cure="Use one of the available paths; a node in a loop or map has its iteration or item: `loop[2]/step`.",
)
NODE_NOT_BEGUN: Final = Kind(
    "DF1122",
    "node {name!r} has not begun, so nothing is stored of it",
    meaning="The run has not reached this node.",
    example="dataflow runs show RUN last   # of a run that has paused before",
    cure="Resume the run, or ask `dataflow why` what the node waits for.",
)
RECORD_DAMAGED: Final = Kind(
    "DF1168",
    "record {seq} is damaged: {error}",
    hint="restore the store from a backup",
    meaning="The bytes of a record of the journal of a run are not text.",
    example="dataflow runs show RUN   # after the file was changed by something else",
    cure="Restore the store from a backup, or start the run again.",
)
ANSWER_SECRET: Final = Kind(
    "DF1184",
    "the answer contains a secret",
    hint="answer with the name of a secret if the ask takes one, or resume the run with the answer",
    meaning="A pending answer is stored as it is given, so one with a known secret is refused.",
    example='store.answer("run", Answer("ask", json.dumps(secret.reveal())))',
    cure="Pass the answer to `flow.resume`, which stores it with marks, or let the ask take a `Secret`.",
)

"""Problems of runs and live sessions: what nodes do, asks with their answers, warnings (DF08)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

RUN_FAILED: Final = Kind(
    "DF0801",
    "failed: {failures}",
    meaning="A run ended as failed, because a node failed and nothing in the flow handled the failure.",
    example="async def load(url: str) -> str: raise OSError  # and the flow neither retries nor skips",
    cure="Look at `failures` of the exception; retry, skip or collect errors where failures are expected.",
)
TOOK_TOO_LONG: Final = Kind(
    "DF0802",
    "the {what} took longer than its {bound} of {seconds} s",
    meaning="A node took longer than its `timeout`, or the run took longer than the `deadline` of its flow.",
    example="flow.add(node(fetch).with_(timeout=1), url=url)",
    cure="Raise the limit, or let the node retry.",
)
LOOP_LIMIT: Final = Kind(
    "DF0803",
    "reached its limit of {rounds}, and {asks} still asks for another",
    meaning='A loop with `on_limit="fail"` reached its limit of iterations.',
    example='with flow.loop(limit=10, on_limit="fail") as it: ...',
    cure="Raise `limit`, correct the condition, or let the loop end at its limit.",
)
RUN_PAUSED: Final = Kind(
    "DF0804",
    "has paused and waits for answers: {asks}",
    meaning="The value of a run was requested, and the run has paused to wait for answers.",
    example="flow.pull(report)   # a node before it asks a person",
    cure="Resume the run with `answers`.",
)
RESULT_MISMATCH: Final = Kind(
    "DF0805",
    "the node returned another type than it declares",
    meaning="The function of a node returned a value that does not fit the annotation of its result.",
    example="async def names() -> list[str]: ...   # and it returns None",
    cure="Correct the function or its annotation.",
)
COROUTINE_RETURNED: Final = Kind(
    "DF0880",
    "the value is the coroutine of {called}, which nobody awaits",
    hint="write `await` before the call",
    meaning="A node or a constant gave the coroutine of an async function, not its result.",
    example="async def double(x: int) -> int: return compute(x)   # compute is async",
    cure="Await the call.",
)
PORT_UNDECLARED: Final = Kind(
    "DF0806",
    "the node does not declare an output port of this name",
    meaning="A node returned or streamed a value for an output port that it does not declare.",
    example='this_firing().emit(piece, port="text")   # the node has only the port out',
    cure="Correct the name, or declare the port.",
)
PORT_LEFT_OUT: Final = Kind(
    "DF0807",
    "the node returned no value for this output port",
    hint="declare it as {declaration} if it may be left out",
    meaning="A node has to return a value for each of its output ports that is not declared as optional.",
    example='async def parts() -> Parts: return {"head": "a"}   # Parts has the port tail too',
    cure="Return a value for the port, or declare the port as one that may be left out.",
)
BRANCHES_TAKEN: Final = Kind(
    "DF0808",
    "the node returned values for the branch outputs {outputs}, and only one branch can be taken",
    meaning="The ports of a node with branch outputs exclude each other, so only one branch gets values.",
    example='return {"yes": value, "no": value}',
    cure="Return the values of one branch, or declare the ports without `exit`.",
)
FAILURE_RETURNED: Final = Kind(
    "DF0809",
    "the node failed: {reason}",
    meaning='A raw node returned `NodeOutput(status="error")`; the reason is in its metadata.',
    example='return NodeOutput(status="error", metadata={"error": "no paper"})',
    cure="The reason is that of the node; handle it as any failure.",
)
TASK_CANCELLED: Final = Kind(
    "DF0810",
    "the node cancelled its own task, or awaited one that was cancelled",
    meaning="A cancellation that does not come from the run left the function of a node.",
    example="async def load() -> str: raise asyncio.CancelledError",
    cure="Catch the cancellation where the node cancels something itself.",
)
VALUES_CONFLICT: Final = Kind(
    "DF0811",
    "the port has values from {edges}, and takes one",
    hint="use merge or gather",
    meaning="Several conditional edges lead to a port that takes one value, and more than one had a value.",
    example='flow.connect("when.yes", "save.text"); flow.connect("when_2.yes", "save.text")',
    cure="Use `merge` for the first value, or `gather` for a list of all.",
)
ANSWER_MISMATCH: Final = Kind(
    "DF0812",
    "its {function} returned a value of another type",
    meaning="A function given to the flow, such as a predicate, a test or a key, returned another type.",
    example="flow.when(text, lambda text: len(text))   # a predicate returns a bool",
    cure="Return the expected type; strings and numbers are not converted.",
)
CASE_UNKNOWN: Final = Kind(
    "DF0813",
    "the value that it picked is not one of its cases",
    hint="return None for none of them",
    meaning="The function of a switch returned a name that is not in its list of cases.",
    example='flow.switch(text, lambda text: "other", ["short", "long"])',
    cure="Return one of the cases, or add a case `default`.",
)
MAP_WITHOUT_LIST: Final = Kind(
    "DF0814",
    "the map has no list to map over",
    expected="a list, tuple or other sequence",
    meaning="A map fires its nodes for each item of a list, and the value is something else.",
    example='flow.add(load, url=each("https://example.org"))',
    cure="Pass a list; collect an async iterator in a node first.",
)
LENGTHS_DIFFERENT: Final = Kind(
    "DF0815",
    "the map zips lists of different lengths: {lengths}",
    meaning="A map over several lists takes one item of each, so they need the same length.",
    example="map: {over: {a: {value: [1]}, b: {value: [1, 2]}}}",
    cure="Make the lists equally long.",
)
KEY_TWICE: Final = Kind(
    "DF0816",
    "two items have the key {key!r}",
    meaning="The keys of a map name its items in paths and stored runs, so no two items can share one.",
    example="each(words, key=lambda word: word[0])",
    cure="Return keys that differ, or leave `key` out: items are then named by position.",
)
VALUE_MISSING: Final = Kind(
    "DF0817",
    "has no value: {reasons}",
    meaning="A port or output was read that has no value in this run: it was skipped, or a node failed.",
    example='result["report"]   # the branch with the report was not taken',
    cure="Read it only where it has a value: `result.outputs` has those that do, `result.why` explains.",
)
OUTPUT_UNKNOWN: Final = Kind(
    "DF0818",
    "the flow does not have this output",
    meaning="A result was asked for an output that the flow does not declare.",
    example='result["reprot"]',
    cure="Correct the name; for ports of nodes use `result.get`.",
)
PORT_NOT_STREAMED: Final = Kind(
    "DF0819",
    "the port does not have pieces to stream",
    meaning="Pieces are streamed of the values of ports, not of signals such as `$done`.",
    example='run.stream("load.$done")',
    cure="Stream one of the available ports.",
)
INPUT_MISSING: Final = Kind(
    "DF0820",
    "is required",
    meaning="A run was started without a value for an input that has no default.",
    example='flow.input("url", str); flow.run_sync()',
    cure="Pass a value, or give the input a default.",
)
INPUT_UNKNOWN: Final = Kind(
    "DF0821",
    "the flow does not have this input",
    meaning="A run was started, or a live session updated, with an input that does not exist.",
    example='flow.run_sync(ulr="https://example.org")',
    cure="Correct the name.",
)
RUN_NOT_KEPT: Final = Kind(
    "DF0822",
    "is {status}, and only a paused run can be resumed from its result",
    hint="run the flow with a store, and resume the run by its id",
    meaning="Without a store a run exists only in its result, and only while it is paused.",
    example="flow.resume(result)   # of a run that has completed",
    cure="Run the flow with `using(store=...)`, and resume the run by its id.",
)
RUN_OF_OTHER_FLOW: Final = Kind(
    "DF0823",
    "belongs to another flow",
    meaning="A paused run is resumed with a flow that it was not started with.",
    example="other.resume(flow.run_sync(), answers)",
    cure="Resume it with its own flow.",
)
RUN_RESUMED: Final = Kind(
    "DF0824",
    "has been resumed already",
    meaning="A paused run that exists only in its result can be resumed once.",
    example="flow.resume(paused, answers)   # twice with the same result",
    cure="Resume the result of the later one, or run the flow with a store.",
)
RESOURCES_CLOSED: Final = Kind(
    "DF0825",
    "nothing can be opened any more, since the execution session has ended",
    meaning="A connection that firings share was requested after the run or live session had ended.",
    example="result['firing'].opened(key, connect)   # outside of the node",
    cure="Open shared connections inside nodes, while they run.",
)
FAILED_EARLIER: Final = Kind(
    "DF0826",
    "failed before the run was resumed: {failure}",
    meaning="A run failed from a failure in an earlier execution session, whose exception is not stored.",
    example="dataflow resume RUN   # a node of it has failed before",
    cure="The text is that of the original failure; fork the run to execute the node again.",
)
ASK_INVALID: Final = Kind(
    "DF0827",
    "the ask of the node cannot be opened",
    meaning="A raw node paused with an ask in its metadata that is malformed.",
    example='NodeOutput(status="paused", metadata={"ask": {"text": "Why?"}})   # the field is prompt',
    cure="Correct the fields: prompt, schema, show, expires (in seconds) and default.",
)
ASK_UNKNOWN: Final = Kind(
    "DF0828",
    "there is no ask with this id",
    meaning="An answer names an ask that the run has not opened.",
    example='flow.resume(paused, {"aks": "yes"})',
    cure="Correct the id: `result.asks` and `dataflow asks` list the open ones.",
)
ASK_CLOSED: Final = Kind(
    "DF0829",
    "the ask does not accept answers any more: {reason}",
    meaning="An ask was answered, has expired, or was closed since its branch or run has ended.",
    example='await run.answer({"ask": "yes"})   # twice',
    cure="Answer asks while they are open; resume a paused run with its answers.",
)
ASK_EXPIRED: Final = Kind(
    "DF0830",
    "got no answer within {seconds} s",
    meaning="An ask has expired, and has no default.",
    example='flow.ask(str, "Why?", expires=60)',
    cure="Answer in time, raise `expires`, or give the ask a `default`.",
)
EFFECT_GIVEN_UP: Final = Kind(
    "DF0882",
    "was cut off after it had begun, and given up by the answer to its ask",
    hint="resume the run to be asked again",
    meaning='A call with `effect="ask"` was cut off, and the ask about it was answered with `give up`.',
    example='await flow.resume(run_id, {"send": "give up"})',
    cure="Resume the run and answer `run again` or the value that the call had given, or handle the failure.",
)
ANSWER_NOT_JSON: Final = Kind(
    "DF0831",
    "is not JSON: {error}",
    meaning="An answer that is stored as JSON text cannot be read.",
    example='an answer `yes`, where `"yes"` is meant',
    cure="Write the answer as JSON.",
)
ANSWER_PORT_UNKNOWN: Final = Kind(
    "DF0832",
    "the ask does not have a port of this name",
    meaning="An answer fills the ports that the node left open, and names another port.",
    example='flow.resume(paused, {"review": {"verdcit": "ok"}})',
    cure="Name the available ports.",
)
ANSWER_PORT_MISSING: Final = Kind(
    "DF0833",
    "is missing in the answer",
    meaning="An answer has to fill each port that the node left open, unless the port is optional.",
    example='flow.resume(paused, {"review": {}})',
    cure="Add a value for the port.",
)
LOOP_ENDED: Final = Kind(
    "DF0834",
    "ended at its limit of {rounds}, and {asks} still asked for another",
    meaning="A loop reached its limit of iterations, and its result is that of the last one.",
    example="with flow.loop(limit=10) as it: ...   # and its condition never becomes true",
    cure='Raise the limit or correct the condition; with `on_limit="fail"` the loop fails instead.',
)
NODE_UNRELEASED: Final = Kind(
    "DF0835",
    "is skipped: no value came on {without}, though one came on {with_value}",
    meaning="A node needs all its inputs, and one of them was skipped while another had a value.",
    example="flow.add(join, left=branch.yes, right=always)   # the branch took no",
    cure="Read both ports from the same branch, or give the port a default.",
)
RACE_FAILED: Final = Kind(
    "DF0836",
    "failed in the race that {winner} won: {reason}",
    meaning="A source of a race failed before another one won, so the failure has no effect.",
    example="flow.add(show, text=race(fast.out, slow.out))",
    cure="Nothing, unless the failure is unexpected.",
)
SETTINGS_UNUSED: Final = Kind(
    "DF0837",
    "has settings that only have an effect for whole runs: {settings}",
    meaning="A flow inside another one sets what the outer flow decides for the whole run.",
    example="flow.add(inner.using(keep=False))",
    cure="Set it at the outer flow.",
)
LIMIT_UNUSED: Final = Kind(
    "DF0838",
    "no node has the limit {name!r}",
    meaning="A limit that `using` sets is not named by any node, so it has no effect.",
    example='flow.using(limits={"modle": 3})',
    cure="Correct the name.",
)
MEMO_WITHOUT_STORE: Final = Kind(
    "DF0839",
    "has nodes with memo 'store', but no store with a cache: outcomes are cached for this {session} alone",
    hint="use using(store=...) or using(memo=...)",
    meaning="Nodes ask for a cache that outlives the process, and the flow does not have a store for it.",
    example='flow.add(node(load).with_(memo="store"))',
    cure="Give the flow a store, or use memo 'run' or 'process'.",
)
MEMO_FAILED: Final = Kind(
    "DF0840",
    "the cache in the store cannot be used: {error}",
    meaning="The store of the cache failed; the node was called instead.",
    example="a store on a disk that is full",
    cure="Repair the store; the results of the run are not affected.",
)
THREAD_ABANDONED: Final = Kind(
    "DF0841",
    "a blocking call was abandoned, and its thread runs until the call returns",
    meaning="A node with blocking code was cancelled or timed out, and Python cannot stop its thread.",
    example="flow.add(node(threaded(download)).with_(timeout=5))",
    cure="Check `this_firing().cancelled()` in the function, or give its calls a timeout of their own.",
)
LOOP_BLOCKED: Final = Kind(
    "DF0842",
    "blocked the event loop for {seconds} s",
    hint="declare blocking code with threaded",
    meaning="A node ran for long without awaiting anything, and everything else had to wait.",
    example="async def load() -> str: time.sleep(3)",
    cure="Declare the function with `@threaded`, or await what takes long.",
)
RESOURCE_FAILED: Final = Kind(
    "DF0843",
    "a resource that firings share has failed: {error}",
    meaning="A shared connection failed while it was open or being closed, outside of any node, or took "
    "longer to close than `using(cleanup=)` allows.",
    example="an async context manager given to `this_firing().opened` that raises at its end",
    cure="The error is in the log with its traceback.",
)
SESSION_OVER: Final = Kind(
    "DF0844",
    "the live session has ended: {reason}",
    meaning="A live session is used after its block was left, or after it was cancelled.",
    example='async with flow.live() as session: ...\nawait session.get("report")',
    cure="Use the session inside its block.",
)
NODE_NOT_ADDRESSED: Final = Kind(
    "DF0845",
    "the node to replace is not given as a step or an address",
    expected="a step, or a string such as `loop/node`",
    meaning="`Live.replace` takes the step that `Flow.add` returned, or the address of a node.",
    example="await session.replace(3, better)",
    cure="Pass the step or the name of the node.",
)
STEP_OF_OTHER_FLOW: Final = Kind(
    "DF0846",
    "the step belongs to another flow",
    meaning="`Live.replace` was given a step of a flow that the session does not run.",
    example="await session.replace(other.add(load), better)",
    cure="Pass a step of the flow of the session, or the name of the node.",
)
NODE_UNKNOWN: Final = Kind(
    "DF0847",
    "the flow does not have a node at this address",
    meaning="`Live.replace` was given the address of a node that does not exist.",
    example='await session.replace("laod", better)',
    cure="Correct the address; nodes in loops and maps have the form `loop/node`.",
)
NODE_IN_SUBFLOW: Final = Kind(
    "DF0848",
    "is inside of {around!r}, which is not a loop or map",
    hint="replace {around!r}",
    meaning="A node of a subflow cannot be replaced by itself, since other nodes may run the same flow.",
    example='await session.replace("subflow/load", better)',
    cure="Replace the whole subflow.",
)
NODE_WITHOUT_FUNCTION: Final = Kind(
    "DF0849",
    "is a loop or map, which does not run a function",
    hint="replace a node inside it",
    meaning="`Live.replace` was given the address of a loop or map.",
    example='await session.replace("loop", better)',
    cure="Replace a node inside of it: `loop/node`.",
)
PORTS_DIFFERENT: Final = Kind(
    "DF0850",
    "a replacement needs the same ports with the same defaults",
    meaning="The new function of a node has other ports, and its edges would not fit.",
    example="async def better(text: str, more: int = 1) -> str: ...   # in place of load(text: str)",
    cure="Give the function the same parameters and results, or make another flow.",
)
ASK_EDITED: Final = Kind(
    "DF0853",
    "the flow was edited after this answer was given, and the ask is opened again",
    hint="answer it again",
    meaning="An answer was pending when its ask, or what the ask depends on, was edited, so it is dropped.",
    example='flow.ask(bool, "Really send it?", name="ok")   # "Send it?" when it was answered',
    cure="Answer the ask as it is now: `result.asks` and `dataflow asks` list it.",
)
OPENER_INVALID: Final = Kind(
    "DF0852",
    "what `opened` is given cannot be opened",
    meaning="`opened` takes a function that returns a context manager: async, or sync in a thread.",
    example='async with this_firing().opened("shop", connect()) as shop: ...   # instead of `connect`',
    cure="Pass the function itself; make an async context manager for `async with`, a sync one for `with`.",
)
KEYS_CHANGED: Final = Kind(
    "DF0868",
    "the key of the map gives other names for its items than when the map was opened",
    hint="the recorded names remain valid; let the key depend on nothing but the item",
    meaning="A run is resumed, and the key function of a map gives other names, or was added or removed.",
    example="each(texts, key=lambda text: str(hash(text)))   # differs in each process",
    cure="Make the key from the item alone, such as `key=lambda text: text[:20]`.",
)
LIMIT_LOWERED: Final = Kind(
    "DF0869",
    "more iterations were begun than the limit of {limit} allows now; those with results remain valid",
    meaning="A run is resumed after the limit of a loop was lowered below the iterations that it has done.",
    example="flow.loop(limit=2)   # resumed in its third iteration, with limit=5 before",
    cure="Nothing has to be done; fork the run to have fewer iterations.",
)
OUTCOME_DROPPED: Final = Kind(
    "DF0851",
    "a cached value cannot be read, and was dropped from the cache: {what}",
    hint="run the flow again",
    meaning="A value of a cached outcome is damaged or missing in the store.",
    example="a store whose file was damaged",
    cure="Run the flow again: the node is then called.",
)

MEMO_IMPOSSIBLE: Final = Kind(
    "DF0876",
    "its outcome cannot be cached, so it is called each time: {reason}",
    meaning="A node has a memo, and an input or an outcome for which none can be kept.",
    example='flow.add(count, lines=open("data.csv"))   # where `count` has memo="process"',
    cure="Pass or return what the value is made of, register a codec for its class, or remove `memo`.",
)

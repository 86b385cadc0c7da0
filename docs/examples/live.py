"""A house with panels and a battery, hour by hour: turn a knob, and only what it reaches is computed again.

python docs/examples/live.py                             on a terminal: arrow keys turn the knobs, q ends
python docs/examples/live.py --script "sun=80 price=30"  with neither, lines such as `sun 80` are read
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import termios
import tty
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import pi, sin
from typing import NoReturn

import anyio

from dataflow import Counts, Flow, FlowInvalid, Live

HOURS = range(24)
PANELS = 3_000  # Wh in an hour of full sun
SOLD_FOR = 8  # cents a kWh
BLOCKS = "·▁▂▃▄▅▆▇█"
CLEAR = "\x1b[H\x1b[J"  # what empties a terminal


# An hour, in Wh. What comes out as before, such as the sun at night, stops a change where it is.


async def produced(sun: int, hour: int) -> int:
    """Tell what the panels give."""
    return int(PANELS * sun / 100 * max(0.0, sin(pi * (hour - 6) / 12)))


async def used(hour: int) -> int:
    """Tell what the house takes: more at breakfast and in the evening."""
    return 250 + 900 * (7 <= hour < 9) + 1_100 * (18 <= hour < 22)


async def surplus(produced: int, used: int) -> int:
    """Tell what is left over, or lacks."""
    return produced - used


async def stored(before: int, surplus: int, size: int) -> int:
    """Tell what is in the battery at the end of the hour."""
    return min(size, max(0, before + surplus))


async def bought(before: int, stored: int, surplus: int) -> int:
    """Tell what comes from the grid; less than nothing is sold."""
    return stored - before - surplus


async def bar(energy: int, most: int) -> str:
    """Draw an hour."""
    return BLOCKS[min(8, max(0, round(8 * energy / most)))]


# The whole day.


async def row(*bars: str) -> str:
    """Put the hours side by side."""
    return "".join(bars)


async def total(*energies: int) -> int:
    """Add up what is more than nothing."""
    return sum(max(0, energy) for energy in energies)


async def total_sold(*bought: int) -> int:
    """Add up what is sold."""
    return sum(max(0, -energy) for energy in bought)


async def bill(bought: int, sold: int, price: int) -> float:
    """Tell what the day costs, in euros."""
    return (bought * price - sold * SOLD_FOR) / 100_000


async def saved(bill: float, used: int, price: int) -> float:
    """Tell what panels and battery save, in euros."""
    return used * price / 100_000 - bill


@dataclass(frozen=True, slots=True)
class Knob:
    """An input, from nothing to the most that an arrow key turns it to."""

    start: int
    most: int
    step: int
    unit: str


KNOBS = {
    "sun": Knob(60, 100, 5, "% of a clear day"),
    "battery": Knob(5_000, 12_000, 500, "Wh"),
    "price": Knob(32, 60, 1, "cents a kWh"),
}

with Flow("house") as house:
    sun, size, price = (house.input(name, int, knob.start) for name, knob in KNOBS.items())
    given = [house.add(produced, sun, hour).out for hour in HOURS]
    taken = [house.add(used, hour).out for hour in HOURS]
    left = [house.add(surplus, given[hour], taken[hour]).out for hour in HOURS]
    level = [0]  # the battery is empty at midnight
    for hour in HOURS:
        level.append(house.add(stored, level[hour], left[hour], size).out)
    grid = [house.add(bought, level[hour], level[hour + 1], left[hour]).out for hour in HOURS]
    for name, energies, most in (
        ("sun", given, PANELS),
        ("battery", level[1:], 12_000),
        ("grid", grid, 1_500),
    ):
        house.output(name, house.add(row, *(house.add(bar, energy, most).out for energy in energies)).out)
    total_bought, sold = house.add(total, *grid).out, house.add(total_sold, *grid).out
    cost = house.add(bill, total_bought, sold, price).out
    house.output("bought", total_bought)
    house.output("sold", sold)
    house.output("bill", cost)
    house.output("saved", house.add(saved, cost, house.add(total, *taken).out, price).out)

NODES = 24 * 8 + 8
OUTPUTS = ("sun", "battery", "grid", "bought", "sold", "bill", "saved")


async def compute(session: Live, before: Counts) -> tuple[str, Counts]:
    """Have what is stale of the outputs computed; returns the day as text, and the counts of now."""
    stale = session.counts.stale
    day = {name: await session.get(name) for name in OUTPUTS}
    counts = session.counts
    called, stood = counts.called - before.called, counts.reused - before.reused
    rows = "\n".join(f"  {name:8} {day[name]}" for name in ("sun", "battery", "grid"))
    return (
        f"           0     6     12    18\n{rows}\n\n"
        f"  {day['bought'] / 1000:.1f} kWh bought, {day['sold'] / 1000:.1f} kWh sold; "
        f"the day costs {day['bill']:.2f} euros, {day['saved']:.2f} saved\n"
        f"  {stale} of {NODES} nodes were stale: {called} called, {stood} stood\n"
    ), counts


def draw(values: dict[str, int], day: str, chosen: str | None) -> None:
    """Draw the knobs and the day; on a terminal in place of what stands there."""
    knobs = [
        f"{'>' if name == chosen else ' '} {name:8} {values[name]:6,} {knob.unit}\n"
        for name, knob in KNOBS.items()
    ]
    print(CLEAR if chosen else "", *knobs, "\n", day, sep="", flush=True)


async def keys(values: dict[str, int]) -> AsyncIterator[tuple[str, int]]:
    """Yield the knob that is chosen and its value after each arrow key, until `q`."""
    names, place = list(KNOBS), 0
    while True:
        await anyio.wait_readable(sys.stdin)
        for key in re.findall(r"\x1b\[[A-D]|.", os.read(sys.stdin.fileno(), 64).decode(errors="replace")):
            if key == "q":
                return
            place = (place + {"\x1b[A": -1, "\x1b[B": 1}.get(key, 0)) % len(names)
            name = names[place]
            turned = values[name] + KNOBS[name].step * {"\x1b[C": 1, "\x1b[D": -1}.get(key, 0)
            yield name, min(KNOBS[name].most, max(0, turned))


async def words(script: str | None) -> AsyncIterator[tuple[str, int]]:
    """Yield the changes of a script, or of lines on standard input; tells of what is none."""
    for change in script.split() if script is not None else sys.stdin:
        name, _, value = change.strip().replace("=", " ").partition(" ")
        if name == "q":
            return
        try:
            yield name, int(value)
        except ValueError:
            print(
                f"expected a change such as `sun 80` or `sun=80`, found {change.strip()!r}", file=sys.stderr
            )


@contextmanager
def single_keys() -> Iterator[None]:
    """Have a terminal give each key at once, and not show it."""
    kept = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, kept)


async def play(changes: AsyncIterator[tuple[str, int]], values: dict[str, int], chosen: str | None) -> None:
    """Keep the house computed while its inputs change."""
    async with house.live(**values) as session:
        day, counts = await compute(session, session.counts)
        draw(values, day, chosen)
        async for name, value in changes:
            try:
                await session.update(**{name: value})  # an equal value changes nothing
            except FlowInvalid as wrong:
                print(*wrong.problems, sep="\n", file=sys.stderr)
                continue
            values[name] = value
            day, counts = await compute(session, counts)
            draw(values, day, chosen and name)


def interrupted(number: int, _: object) -> NoReturn:
    """End at once, also while a line is waited for, with the exit code that a signal has in a shell."""
    sys.exit(128 + number)


def main() -> None:
    """Take changes from the arguments, from keys or from lines."""
    parser = argparse.ArgumentParser(description="Turn the knobs of a house with panels and a battery.")
    parser.add_argument("--script", metavar="CHANGES", help="such as 'sun=80 battery=6000'")
    script = parser.parse_args().script
    values = {name: knob.start for name, knob in KNOBS.items()}
    signal.signal(signal.SIGINT, interrupted)
    if script is None and sys.stdin.isatty() and sys.stdout.isatty():
        with single_keys():
            anyio.run(play, keys(values), values, next(iter(KNOBS)))
    else:
        anyio.run(play, words(script), values, None)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # whoever has read has seen enough; what is still in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

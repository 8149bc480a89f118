"""Every n-th system call of every writing command fails once, or is where the process is killed."""

import errno

import pytest
from ordeal import COMMANDS, SECONDS, Desk, Tally, needs_a_compiler

pytestmark = needs_a_compiler

ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EMFILE)
KILL = 0
KILLS = 1_000  # at any moment
PARTS = 2  # which `make torture` runs at once


@pytest.mark.parametrize("name", list(COMMANDS)[::2])
def test_some_calls_fail_or_are_the_last(desk: Desk, name: str) -> None:
    tally = Tally(f"a few calls of {name}")
    _, _, calls = desk.learn(name)
    assert calls > 10
    for number in (KILL, errno.EIO):
        at = tally.random.randint(1, calls)
        tally.counts[desk.suffer(name, at=at, errno=number)] += 1
    tally.say()


def every_call(desk: Desk, tally: Tally, part: int) -> list[tuple[str, int]]:
    """A part of the calls of all commands, in a random order."""
    calls = [(name, at) for name in COMMANDS for at in range(1, desk.learn(name)[2] + 1)]
    tally.random.shuffle(calls)
    return calls[part::PARTS]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_call_is_the_last(desk: Desk, part: int) -> None:
    tally = Tally("SIGKILL at every call")
    calls = every_call(desk, tally, part)
    for (name, at), _ in zip(calls, tally.until(SECONDS), strict=False):
        tally.counts[desk.suffer(name, at=at, errno=KILL)] += 1
    tally.say(len(calls))
    assert tally.counts["killed"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_call_fails(desk: Desk, part: int) -> None:
    """Each with one of the errors first; then with the others, while there is time."""
    tally = Tally("every call fails")
    calls = every_call(desk, tally, part)
    errors = tally.random.choices(range(len(ERRORS)), k=len(calls))
    for turn, _ in enumerate(ERRORS):
        drawn = [ERRORS[(error + turn) % len(ERRORS)] for error in errors]
        for (name, at), number, _ in zip(calls, drawn, tally.until(SECONDS), strict=False):
            tally.counts[desk.suffer(name, at=at, errno=number)] += 1
    tally.say(len(calls) * len(ERRORS))
    assert tally.counts["failed"] > 0


@pytest.mark.slow
def test_killed_at_any_moment(desk: Desk) -> None:
    tally = Tally("SIGKILL at any moment")
    for number in tally.until(SECONDS):
        name = list(COMMANDS)[number % len(COMMANDS)]
        after = tally.random.uniform(0.001, 0.15)
        tally.counts[desk.suffer(name, kill_after=after)] += 1
        if tally.counts["killed"] == KILLS:
            break
    tally.say()
    assert tally.counts["killed"] > 0

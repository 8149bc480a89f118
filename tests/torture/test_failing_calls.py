"""Every n-th system call of every writing command fails once, or is where the process is killed."""

import errno
import itertools

import pytest
from ordeal import COMMANDS, SECONDS, Desk, Tally, needs_a_compiler

pytestmark = needs_a_compiler

ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EMFILE)
KILL = 0
KILLS = 1_000  # at any moment


@pytest.mark.parametrize("name", list(COMMANDS)[::2])
def test_some_calls_fail_or_are_the_last(desk: Desk, name: str) -> None:
    tally = Tally(f"a few calls of {name}")
    _, _, calls = desk.learn(name)
    assert calls > 10
    for number in (KILL, errno.EIO):
        at = tally.random.randint(1, calls)
        tally.counts[desk.suffer(name, at=at, errno=number)] += 1
    tally.say()


@pytest.mark.slow
@pytest.mark.parametrize("number", [KILL, *ERRORS], ids=lambda n: errno.errorcode.get(n, "kill"))
def test_every_call_fails_or_is_the_last(desk: Desk, number: int) -> None:
    """In a random order, until all were tried or the time is over."""
    cases = [(name, at) for name in COMMANDS for at in range(1, desk.learn(name)[2] + 1)]
    tally = Tally(f"every call, {errno.errorcode.get(number, 'kill')}")
    tally.random.shuffle(cases)
    for (name, at), _ in zip(cases, tally.until(SECONDS), strict=False):
        tally.counts[desk.suffer(name, at=at, errno=number)] += 1
    tally.possible = len(cases)
    tally.say()
    assert tally.counts["killed" if number == KILL else "failed"] > 0


@pytest.mark.slow
def test_killed_at_any_moment(desk: Desk) -> None:
    tally = Tally("kills at any moment")
    names = list(COMMANDS)
    for number in itertools.islice(tally.until(SECONDS), KILLS):
        name = names[number % len(names)]
        after = tally.random.uniform(0.001, 0.25)
        tally.counts[desk.suffer(name, kill_after=after)] += 1
    tally.say()
    assert tally.counts["killed"] > 0

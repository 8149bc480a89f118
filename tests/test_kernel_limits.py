"""Kernels that are stopped, and kernels that find no memory: an error, never an abort."""

import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from nearly import _kernels
from nearly.passage import edited

TEXT = np.full(60_000_000, ord("a"), np.uint8)
OFFSETS = np.array([0, len(TEXT)])
NORMALISE = {
    "fold_case": True,
    "drop_accents": True,
    "drop_digits": True,
    "drop_punctuation": True,
    "keep_mentions": True,
    "words": True,
    "space": "collapse",
    "stop_words": "",
}

UNITS = np.zeros(6_000_000, np.uint64)
WHO = np.array([0], np.uint32)
HALF = np.arange(3_000_000, dtype=np.uint32)
ALIGNMENT = _kernels.Alignment(
    **edited.ALIGNMENT, condensing=_kernels.Condensing(**edited.CONDENSING)
)


def align() -> object:
    rarities, begins = np.ones(len(HALF), np.float32), np.zeros(len(HALF), np.uint8)
    ends = np.array([0, len(HALF)])
    words = (HALF.astype(np.uint64), HALF, HALF, HALF + 1, begins, HALF, rarities)
    return _kernels.align(ends, *words, WHO, WHO, ALIGNMENT, 0.7)


LOOPS: dict[str, Callable[[], object]] = {
    "sign": lambda: _kernels.sign(OFFSETS, TEXT, "char", 9, 1, "independent", 32, 8),
    "shingle_sets": lambda: _kernels.shingle_sets(OFFSETS, TEXT, "char", 9, 1),
    "weigh_with_shingles": lambda: _kernels.weigh_with_shingles(OFFSETS, TEXT, "char", 9, 1),
    "sign_shingles": lambda: _kernels.sign_shingles(
        np.array([0, len(UNITS)]), UNITS, 1, "one-permutation", 4, 4
    ),
    "keep_once": lambda: _kernels.keep_once(np.array([0, len(UNITS)]), UNITS.copy(), WHO),
    "normalise": lambda: _kernels.normalise(OFFSETS, TEXT, **NORMALISE),
    "settled": lambda: _kernels.settled(OFFSETS, TEXT, "NFC"),
    "cut_units": lambda: _kernels.cut_units(OFFSETS, TEXT, True, True),
    "shared_runs": lambda: _kernels.shared_runs(
        np.array([0, len(UNITS)]), UNITS, WHO, WHO, False, 6, 7, 10
    ),
    "winnow": lambda: _kernels.winnow(np.array([0, len(UNITS)]), UNITS, 6, 7),
    "document_grams": lambda: _kernels.document_grams(np.array([0, len(UNITS)]), UNITS, 3),
    "rare_pairs": lambda: _kernels.rare_pairs(
        np.array([0, len(UNITS)]), UNITS, WHO, WHO, False, 3, 8, 0, 1
    ),
    "align": align,
}


def sign_for_minutes() -> None:
    _kernels.sign(OFFSETS, TEXT, "char", 9, 1, "independent", 1024, 8)


#: Seconds after which a stop has certainly come, on any machine, and the loop is far from its end.
SOON = 20


@pytest.fixture
def stop() -> Iterator[Callable[[], None]]:
    yield _kernels.request_stop
    _kernels.forget_stop()


@pytest.mark.parametrize("name", LOOPS)
def test_a_stop_ends_a_kernel(name: str, stop: Callable[[], None]) -> None:
    stop()
    with pytest.raises(KeyboardInterrupt):
        LOOPS[name]()
    _kernels.forget_stop()
    _kernels.sign(np.array([0, 100]), TEXT, "char", 9, 1, "one-permutation", 4, 4)


def test_a_stop_reaches_a_kernel_that_runs(stop: Callable[[], None]) -> None:
    asked = []

    def ask() -> None:
        asked.append(time.monotonic())
        stop()

    threading.Timer(0.2, ask).start()
    with pytest.raises(KeyboardInterrupt):
        sign_for_minutes()
    assert time.monotonic() - asked[0] < SOON


def test_a_signal_reaches_a_kernel_of_the_main_thread() -> None:
    signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    start = time.monotonic()
    with pytest.raises(InterruptedError):
        sign_for_minutes()
    assert time.monotonic() - start < SOON


def _raise(*_: object) -> None:
    raise InterruptedError


PROBE = """
import resource
import numpy as np
from nearly import _kernels
from nearly.passage import edited
text = np.random.default_rng(1).integers(97, 123, {size}, dtype=np.uint8)
offsets = np.array([0, len(text)])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {room}, used + {room}))
try:
    {call}
except MemoryError:
    print("no memory")
"""
CALLS = {
    "sets": "_kernels.shingle_sets(offsets, text, 'char', 9, 1)",
    "weigh_with_shingles": "_kernels.weigh_with_shingles(offsets, text, 'char', 9, 1)",
    "normalise": f"_kernels.normalise(offsets, text, **{NORMALISE})",
    "gather": "_kernels.gather(text, offsets[:1], offsets[1:])",
    "count": "_kernels.count_cells(text[:800].view(np.uint64), 32)",
    "first": "_kernels.first_seen(np.zeros((2_000_000, 2), np.uint64))",
}


@pytest.mark.parametrize("name", CALLS)
def test_no_memory_is_an_error(name: str) -> None:
    code = PROBE.format(size=20_000_000, room=12_000_000, call=CALLS[name])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (0, "no memory\n"), run.stderr


@pytest.mark.parametrize("kilobytes", [250_000, 400_000])
def test_a_run_without_memory_ends_with_one_line(kilobytes: int, tmp_path: Path) -> None:
    line = "".join(map(chr, np.random.default_rng(1).integers(97, 123, 50_000)))
    source = tmp_path / "lines.txt"
    source.write_text("".join(f"{i} {line}\n" for i in range(1_000)))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes * 1024, kilobytes * 1024))

    run = subprocess.run(
        [sys.executable, "-m", "nearly", "find", source, "--lines", "--threads", "1"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert run.returncode == 71, run.stderr
    assert run.stderr.startswith("nearly: out of memory; hold less with --memory")
    assert len(run.stderr.splitlines()) == 1


@pytest.mark.parametrize("kilobytes", [300_000, 380_000, 420_000, 460_000])
def test_a_table_without_memory_is_an_error_too(kilobytes: int, tmp_path: Path) -> None:
    source = tmp_path / "table.jsonl"
    source.write_text("".join(f'{{"id": {i}, "text": "text {i}"}}\n' for i in range(1_000)))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (kilobytes * 1024, kilobytes * 1024))

    run = subprocess.run(
        [sys.executable, "-m", "nearly", "find", source, "-o", tmp_path / "pairs.csv"],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert run.returncode in (0, 3, 71), run.stderr
    assert "Traceback" not in run.stderr

"""One long document in each format: the peak of a whole run, as a multiple of its text.

Each run is a process of its own; what a run over a short text takes is subtracted. Two documents
that are a pair are counted together.

    python bench/long_source.py [--megabytes 60] [--sources csv parquet] [--commands find]
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import harness
import long_document
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq


def text_file(folder: Path, text: str) -> Path:
    return _written(folder / "long.txt", text)


def pair_of_files(folder: Path, text: str) -> Path:
    """Two files of which the second lacks the end of the first."""
    inside = folder / "pair"
    inside.mkdir()
    _written(inside / "a.txt", text[: len(text) // 2])
    _written(inside / "b.txt", text[: len(text) // 2 - 7])
    return inside


def jsonl(folder: Path, text: str) -> Path:
    return _written(folder / "long.jsonl", _line(text))


def escaped_jsonl(folder: Path, text: str) -> Path:
    """Some spaces are escaped."""
    return _written(folder / "escaped.jsonl", _line(text).replace("q ", "q\\u0020"))


def odd_jsonl(folder: Path, text: str) -> Path:
    """A string that readers of JSON may see differently."""
    return _written(folder / "odd.jsonl", _line(text[:-1] + "\0"))


def gzipped_jsonl(folder: Path, text: str) -> Path:
    return _gzipped(folder / "long.jsonl.gz", _line(text))


def json_array(folder: Path, text: str) -> Path:
    return _written(folder / "long.json", f"[{_line(text)}]")


def items_jsonl(folder: Path, text: str) -> Path:
    """Its words as a list of items."""
    return _written(folder / "items.jsonl", _items(text) + "\n")


def items_array(folder: Path, text: str) -> Path:
    return _written(folder / "items.json", f"[{_items(text)}]")


def tokens_jsonl(folder: Path, text: str) -> Path:
    """A long list of objects beside a short text."""
    tokens = [{"word": word, "place": place} for place, word in enumerate(text.split())]
    row = {"id": 1, "text": "short", "tokens": tokens[: len(tokens) * 8 // 35]}
    return _written(folder / "tokens.jsonl", json.dumps(row) + "\n")


def names_jsonl(folder: Path, text: str) -> Path:
    """An object of very many names beside a short text."""
    words = text.split()
    more = {f"{word}{place}": place for place, word in enumerate(words[: len(words) * 8 // 27])}
    return _written(folder / "names.jsonl", json.dumps({"text": "short", "more": more}) + "\n")


def records_jsonl(folder: Path, text: str) -> Path:
    """The same, of objects."""
    words = text.split()
    more = {f"n{place}": {"word": word} for place, word in enumerate(words[: len(words) * 8 // 33])}
    return _written(folder / "records.jsonl", json.dumps({"text": "short", "more": more}) + "\n")


def mixed_jsonl(folder: Path, text: str) -> Path:
    """An object of very many names with numbers, strings, dates, lists and objects."""
    values = [1, "a word", "2020-02-03", [1, 2], {"a": {"b": None}}]
    words = text.split()[: len(text) // 35]
    more = {f"{word}{place}": values[place % len(values)] for place, word in enumerate(words)}
    return _written(folder / "mixed.jsonl", json.dumps({"text": "short", "more": more}) + "\n")


def inner_jsonl(folder: Path, text: str) -> Path:
    """A long object in which a name stands twice."""
    words = text.split()
    more = json.dumps(words[: len(words) * 8 // 11])
    row = f'{{"text": "a", "more": {{"a": 1, "a": 2, "b": {more}}}}}\n'
    return _written(folder / "inner.jsonl", row)


def lists_jsonl(folder: Path, text: str) -> Path:
    """A long list in fifty lists."""
    words = text.split()
    more = json.dumps(words[: len(words) * 8 // 11])
    row = f'{{"text": "a", "more": {"[" * 50}{more}{"]" * 50}}}\n'
    return _written(folder / "lists.jsonl", row)


def columns_jsonl(folder: Path, text: str) -> Path:
    """Nine thousand columns, each a list."""
    words = text.split()
    words = words[: len(words) * 8 // 11]
    row = {f"n{place}": words[place::9_000] for place in range(min(9_000, len(words)))}
    return _written(folder / "columns.jsonl", json.dumps({"text": "a", **row}) + "\n")


def element_jsonl(folder: Path, text: str) -> Path:
    """A list with one long element."""
    words = text.split()
    row = {"text": "short", "more": [1, words[: len(words) * 8 // 11]]}
    return _written(folder / "element.jsonl", json.dumps(row) + "\n")


def deeper_jsonl(folder: Path, text: str) -> Path:
    """A long list of objects in an object."""
    tokens = [{"word": word, "place": place} for place, word in enumerate(text.split())]
    row = {"text": "short", "more": {"count": 1, "tokens": tokens[: len(tokens) * 8 // 35]}}
    return _written(folder / "deeper.jsonl", json.dumps(row) + "\n")


def twice_jsonl(folder: Path, text: str) -> Path:
    """A name that stands twice beside a long list."""
    words = text.split()
    more = json.dumps(words[: len(words) * 8 // 11])
    return _written(folder / "twice.jsonl", f'{{"id": 1, "id": 2, "text": "a", "more": {more}}}\n')


def _numbers(count: int, largest: int) -> str:
    return json.dumps({"id": 1, "items": [place * 7919 % largest for place in range(count)]}) + "\n"


def numbers_jsonl(folder: Path, text: str) -> Path:
    """Numbers of seven digits as items."""
    return _written(folder / "numbers.jsonl", _numbers(len(text) // 9, 10**7))


def digits_jsonl(folder: Path, text: str) -> Path:
    """Numbers of one digit as items."""
    return _written(folder / "digits.jsonl", _numbers(len(text) // 3, 10))


def _items(text: str) -> str:
    words = text.split()
    return json.dumps({"id": 1, "items": words[: len(words) * 8 // 11]})


def deep_json(folder: Path, text: str) -> Path:
    """A long string beside a short text, deeper in its object."""
    row = {"id": 1, "text": "short", "more": {"pages": [text]}}
    return _written(folder / "deep.json", json.dumps([row]))


def csv_file(folder: Path, text: str) -> Path:
    return _written(folder / "long.csv", f'id,text\n1,"{text}"\n')


def gzipped_csv(folder: Path, text: str) -> Path:
    return _gzipped(folder / "long.csv.gz", f'id,text\n1,"{text}"\n')


def parquet(folder: Path, text: str) -> Path:
    pq.write_table(_table(text), folder / "long.parquet")
    return folder / "long.parquet"


def plain_parquet(folder: Path, text: str) -> Path:
    path = folder / "plain.parquet"
    pq.write_table(_table(text), path, compression="none", use_dictionary=False)
    return path


def arrow(folder: Path, text: str) -> Path:
    with pa.ipc.new_file(folder / "long.arrow", _table(text).schema) as writer:
        writer.write_table(_table(text))
    return folder / "long.arrow"


def _table(text: str) -> pa.Table:
    return pa.table({"id": [1], "text": pa.array([text], pa.large_string())})


def _line(text: str) -> str:
    return json.dumps({"id": 1, "text": text}) + "\n"


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def _gzipped(path: Path, text: str) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(text.encode())
    return path


SOURCES: dict[str, Callable[[Path, str], Path]] = {
    "text file": text_file,
    "lines": text_file,
    "pair of files": pair_of_files,
    "jsonl": jsonl,
    "escaped jsonl": escaped_jsonl,
    "odd jsonl": odd_jsonl,
    "gzipped jsonl": gzipped_jsonl,
    "json array": json_array,
    "deep json": deep_json,
    "items jsonl": items_jsonl,
    "items array": items_array,
    "tokens jsonl": tokens_jsonl,
    "names jsonl": names_jsonl,
    "records jsonl": records_jsonl,
    "mixed jsonl": mixed_jsonl,
    "inner jsonl": inner_jsonl,
    "lists jsonl": lists_jsonl,
    "columns jsonl": columns_jsonl,
    "element jsonl": element_jsonl,
    "deeper jsonl": deeper_jsonl,
    "twice jsonl": twice_jsonl,
    "numbers jsonl": numbers_jsonl,
    "digits jsonl": digits_jsonl,
    "csv": csv_file,
    "gzipped csv": gzipped_csv,
    "parquet": parquet,
    "plain parquet": plain_parquet,
    "arrow": arrow,
}
ITEMS = ["--items", "items"]
OPTIONS = {"lines": ["--lines"]} | dict.fromkeys(
    ["items jsonl", "items array", "numbers jsonl", "digits jsonl"], ITEMS
)


def made(source: str, folder: Path, size: int) -> Path:
    """A source of the folder, made by a process of its own: a run starts with its parent's peak."""
    asked = [sys.executable, __file__, "--make", source, folder, str(size)]
    said = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True)
    return Path(said.stdout.strip())


def peak(command: str, source: str, size: int) -> int:
    """The bytes that one run held at most; it has to read its document."""
    folder = Path(tempfile.mkdtemp(dir=harness.CACHE))
    try:
        path = made(source, folder, size)
        ending = ".parquet" if command == "find" else "".join(path.suffixes) or ".json"
        asked = [harness.nearly_command(), command, path, "--threads", "2", "--strict"]
        asked += [*OPTIONS.get(source, []), "--temporary", folder, "-o", folder / f"output{ending}"]
        with (folder / "said").open("w+") as said:
            run = subprocess.Popen(asked, stdout=subprocess.DEVNULL, stderr=said)
            _, status, usage = os.wait4(run.pid, 0)
            run.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            if run.returncode not in (0, 1):
                print(command, source, said.read(), file=sys.stderr)
    finally:
        shutil.rmtree(folder)
    return usage.ru_maxrss * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--megabytes", type=int, default=60)
    parser.add_argument("--sources", nargs="*", choices=SOURCES, default=list(SOURCES))
    parser.add_argument("--commands", nargs="*", choices=["find", "dedup"], default=["find"])
    parser.add_argument("--make", nargs=3, metavar=("SOURCE", "FOLDER", "BYTES"))
    asked = parser.parse_args()
    harness.CACHE.mkdir(exist_ok=True)
    if asked.make:
        source, folder, size = asked.make
        text = long_document.words(int(size)).tobytes().decode()
        print(SOURCES[source](Path(folder), text))
        return
    size = asked.megabytes * 10**6
    rows: list[list[object]] = []
    saved = harness.RESULTS / "long_source.json"
    times_of = json.loads(saved.read_text())["times"] if saved.exists() else {}
    for command in asked.commands:
        for source in asked.sources:
            times = (peak(command, source, size) - peak(command, source, 700)) / size
            rows.append([f"{command}, {source}", times])
            times_of[f"{command}, {source}"] = times
            print(*rows[-1], file=sys.stderr, flush=True)
    harness.show(["run", "peak beyond an empty run, in documents"], rows)
    harness.save("long_source", {"megabytes": asked.megabytes, "times": times_of})


if __name__ == "__main__":
    main()

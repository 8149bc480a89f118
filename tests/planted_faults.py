"""Plant one fault at a time in a copy of the package, and see that the engines' contract fails.

    python tests/planted_faults.py            # all of them, a few minutes
    python tests/planted_faults.py local      # those of one engine, or with this in their name

A fault is an edit of a source file: a text that occurs there once, and what stands in its place.
It is caught if a test of `test_engines.py` or `test_against.py` fails by an assertion about an
answer. An error on the way does not count: whoever breaks an engine so that it stops will notice.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

import nearly
from nearly import _kernels

TESTS = Path(__file__).resolve().parent
SOURCE = Path(nearly.__file__).resolve().parent

#: The editable install finds its modules before any path does; workers of Spark read this too.
SITE = """
import sys
sys.meta_path[:] = [f for f in sys.meta_path if "ScikitBuild" not in type(f).__name__]
"""


@dataclass(frozen=True)
class Fault:
    """What is wrong, where, and a part of the contract that notices (as `pytest -k` takes it)."""

    name: str
    engine: str
    noticed_by: str
    file: str
    old: str
    new: str


PAIRS = "every_pair"
ALL_PAIRS = "every_pair and all"
SURVIVORS = "survives"

CONTRACT = ("test_engines.py", "test_against.py")
#: Which run of the contract looks at an engine.
RUNS = {
    "local": "local",
    "spark": "spark-2-by-5-small",
    "spark, together": "spark-7-by-10000",
}

FAULTS = (
    # One machine, and what both engines share.
    Fault(
        "a pair lost at the border of two blocks of the join",
        "local",
        PAIRS,
        "measures/set_join.py",
        "j for j in range(last, len(sizes))",
        "j for j in range(last + 1, len(sizes))",
    ),
    Fault(
        "a pair lost at the border of two blocks of verification",
        "local",
        PAIRS,
        "engines/local/verification.py",
        "nearness[block] = found\n",
        "nearness[block] = np.append(np.nan, found[1:])\n",
    ),
    Fault(
        "a similarity rounded",
        "local",
        PAIRS,
        "engines/local/near_pair.py",
        "store.add(packed[near], nearness[near])",
        "store.add(packed[near], nearness[near].round(6))",
    ),
    Fault(
        "a pair exactly at the threshold lost",
        "local",
        "threshold",
        "measures/base.py",
        "Fraction(repr(float(number)))",
        "Fraction(float(number))",
    ),
    Fault(
        "one band skipped",
        "local",
        "bucket",
        "engines/local/near_pair.py",
        "for pairs, met, most_together in shop.map(of_band, range(banding.bands)",
        "for pairs, met, most_together in shop.map(of_band, range(banding.bands - 1)",
    ),
    Fault(
        "a hub dropped",
        "local",
        "crowded_bucket",
        "engines/local/near_pair.py",
        "documents, sketches, banding, hubs=hubs, most_meetings=most)",
        "documents, sketches, banding, hubs=max(0, hubs - 1), most_meetings=most)",
    ),
    Fault(
        "numbers of a spilled bucket taken for documents",
        "local",
        "bucket",
        "engines/local/near_pair.py",
        "return join_pairs(known[first], known[second]), met",
        "return pairs, met",
    ),
    Fault(
        "a copy linked to the wrong representative",
        "local",
        PAIRS,
        "documents/local.py",
        "originals=first[is_copy],",
        "originals=np.roll(first[is_copy], 1),",
    ),
    Fault(
        "empty documents are copies of each other",
        "local",
        PAIRS,
        "documents/local.py",
        "valid = np.flatnonzero(sizes > 0)",
        "valid = np.arange(len(sizes))",
    ),
    Fault(
        "an id that repeats counted for each later document",
        "local",
        "share_an_id",
        "documents/local.py",
        "ids = len(different(self.earlier)[0])",
        "ids = len(self.earlier)",
    ),
    Fault(
        "the place of the row before",
        "local",
        "share_an_id",
        "documents/local.py",
        "located(self.stretches, self.rows(sought))",
        "located(self.stretches, self.rows(sought) - 1)",
    ),
    Fault(
        "the place of the removed document told for its survivor",
        "local",
        "share_an_id",
        "stages/table.py",
        "survivor=survivors).values()",
        "survivor=documents).values()",
    ),
    Fault(
        "of a chain only one removed document counted",
        "local",
        SURVIVORS,
        "stages/survivor.py",
        "(self.nearness < float(threshold)).sum()",
        "(self.nearness < float(threshold)).any()",
    ),
    Fault(
        "all pairs without those of copies",
        "local",
        ALL_PAIRS,
        "engines/local/engine.py",
        "all_pairs = corpus.settings.all_pairs",
        "all_pairs = False",
    ),
    Fault(
        "pairs among the copies of the last text lost",
        "local",
        ALL_PAIRS,
        "stages/copy.py",
        "copied = np.flatnonzero(np.bincount(originals)).astype(originals.dtype)",
        "copied = np.flatnonzero(np.bincount(originals)).astype(originals.dtype)[:-1]",
    ),
    Fault(
        "copies listed after all other pairs",
        "local",
        PAIRS,
        "documents/pair_store.py",
        "if (packed[1:] > packed[:-1]).all():",
        "if len(packed) >= 0:",
    ),
    Fault(
        "an id shifted by one",
        "local",
        PAIRS,
        "stages/table.py",
        "corpus.ids(pairs.second),",
        "corpus.ids(pairs.second - 1),",
    ),
    Fault(
        "a component cut in two",
        "local",
        PAIRS,
        "stages/cluster.py",
        "_kernels.components(labels[part.first], labels[part.second], documents)",
        "_kernels.components(labels[part.first[::2]], labels[part.second[::2]], documents)",
    ),
    Fault(
        "copies left out of clusters",
        "local",
        PAIRS,
        "stages/cluster.py",
        "labels[copies] = labels[originals]",
        "labels[copies] = copies",
    ),
    Fault(
        "the weakest link of the first cluster overlooked",
        "local",
        PAIRS,
        "stages/cluster.py",
        "inside = (first == second) & (first >= 0)",
        "inside = (first == second) & (first > 0)",
    ),
    Fault(
        "leaders in the order of the source, whatever is to be kept",
        "local",
        SURVIVORS,
        "engines/local/engine.py",
        "leading, copies = by_best_copy(order, corpus), len(corpus.copies)",
        "leading, copies = np.sort(order), len(corpus.copies)",
    ),
    Fault(
        "a leader that is not as good as its copies",
        "local",
        SURVIVORS,
        "stages/survivor.py",
        "np.minimum.at(place, corpus.originals, place[corpus.copies])",
        "pass",
    ),
    Fault(
        "the second-best survivor",
        "local",
        SURVIVORS,
        "stages/survivor.py",
        "np.minimum.at(best, clusters.numbers, place[clusters.members])",
        "for n in range(clusters.count):\n"
        "        best[n] = np.sort(place[clusters.members[clusters.numbers == n]])[1]",
    ),
    Fault(
        "ties won by the later document",
        "local",
        SURVIVORS,
        "stages/survivor.py",
        "np.lexsort((involved, preference))",
        "np.lexsort((-involved.astype(np.int64), preference))",
    ),
    Fault(
        "the lowest kept where the highest is asked for",
        "local",
        SURVIVORS,
        "stages/survivor.py",
        'in ("newest", "max") else "ascending"',
        'in ("newest",) else "ascending"',
    ),
    Fault(
        "documents without a date taken for the newest",
        "local",
        SURVIVORS,
        "stages/survivor.py",
        "pc.rank(values, sort_keys=direction",
        "pc.rank(pc.fill_null(values, pc.max(values)), sort_keys=direction",
    ),
    Fault(
        "the row before a removed one dropped",
        "local",
        SURVIVORS,
        "sources/reader.py",
        "kept[removed[low:high] - piece.first] = False",
        "kept[removed[low:high] - piece.first - 1] = False",
    ),
    Fault(
        "an audit that divides by what was claimed",
        "local",
        "bucket",
        "stages/audit.py",
        "recall=_ratio(int(found.sum()), int(pairs.sum())),",
        "recall=_ratio(int(found.sum()), claimed),",
    ),
    Fault(
        "the best pairs shown from the worst one on",
        "local",
        PAIRS,
        "stages/table.py",
        "np.argsort(-nearness[high], kind",
        "np.argsort(nearness[high], kind",
    ),
    # Spark alone.
    Fault(
        "pairs of two groups of the join lost",
        "spark",
        PAIRS,
        "engines/spark/partition/join.py",
        "parts += join_sides_across(measure, mine, theirs, threshold, ONE_THREAD)",
        "parts += []",
    ),
    Fault(
        "a similarity in single precision",
        "spark",
        ALL_PAIRS,
        "engines/spark/partition/verification.py",
        "return Near(pairs.first[near], pairs.second[near], nearness[near])",
        "return Near(pairs.first[near], pairs.second[near], "
        "nearness[near].astype(np.float32).astype(np.float64))",
    ),
    Fault(
        "a copy of a later block taken for the original",
        "spark",
        PAIRS,
        "engines/spark/partition/copy.py",
        "sorted(same, key=lambda part: int(part.documents[0]))",
        "sorted(same, key=lambda part: -int(part.documents[0]))",
    ),
    Fault(
        "empty documents are copies of each other on Spark",
        "spark",
        PAIRS,
        "engines/spark/partition/copy.py",
        "valid = signed.sizes > 0\n",
        "valid = signed.sizes >= 0\n",
    ),
    Fault(
        "one band skipped on Spark",
        "spark",
        "meets_in_a_bucket",
        "engines/spark/partition/bucket.py",
        "for band in range(len(received[0].counts) if received else 0)",
        "for band in range(1, len(received[0].counts) if received else 0)",
    ),
    Fault(
        "old documents meet each other",
        "local",
        "across_the_border",
        "documents/side.py",
        "sides = np.full(documents, OLD, np.uint8)",
        "sides = np.full(documents, BOTH, np.uint8)",
    ),
    Fault(
        "an old document does not stand for its new copies",
        "local",
        "across_the_border and all",
        "documents/side.py",
        "sides[originals[(originals < old) & (copies >= old)]] = BOTH",
        "sides[originals[(originals < old) & (copies < old)]] = BOTH",
    ),
    Fault(
        "the border one document too early",
        "local",
        "across_the_border",
        "documents/local.py",
        "old = self._count_before(self.source.border)",
        "old = self._count_before(self.source.border - 1)",
    ),
    Fault(
        "a copy across the border is not linked",
        "local",
        "across_the_border and links",
        "stages/crossing.py",
        "np.flatnonzero((originals < old) & (copies >= old))",
        "np.flatnonzero((originals < old) & (copies >= old))[1:]",
    ),
    Fault(
        "an old document removed",
        "local",
        "only_new",
        "stages/survivor.py",
        "goes &= clusters.members >= corpus.old",
        "goes &= clusters.members >= corpus.old // 2",
    ),
    Fault(
        "the first old document named for the nearest",
        "local",
        "only_new",
        "stages/survivor.py",
        "stays = _nearest_old(corpus, clusters, near, stays)",
        "stays = stays.copy()",
    ),
    Fault(
        "a hub of one side dropped",
        "local",
        "hubs_of_both",
        "engines/local/near_pair.py",
        "documents, sketches, banding, hubs=hubs, firsts=firsts, cuts=cuts)",
        "documents, sketches, banding, hubs=max(0, hubs - 1), firsts=firsts, cuts=cuts)",
    ),
    Fault(
        "new copies not found on both sides on Spark",
        "spark",
        "across_the_border and all",
        "engines/spark/partition/copy.py",
        'yield block, Returned("both", Copies(theirs, theirs))',
        'yield block, Returned("both", Copies(theirs[1:], theirs[1:]))',
    ),
    Fault(
        "a block of old documents taken for new ones on Spark",
        "spark",
        "across_the_border",
        "engines/spark/partition/border.py",
        "np.where(documents < border.first_new, OLD,",
        "np.where(documents < border.first_new >> 1, OLD,",
    ),
    Fault(
        "old copies told of on Spark",
        "spark",
        "only_new",
        "engines/spark/partition/copy.py",
        "if border is None or border.lists_copies or number >= border.blocks:",
        "if border is None or border.lists_copies or number >= border.blocks - 1:",
    ),
    Fault(
        "a hub dropped on Spark",
        "spark",
        "crowded_bucket",
        "engines/spark/near_pair.py",
        "partial(bucket.crowded, partitions=partitions, hubs=hubs)",
        "partial(bucket.crowded, partitions=partitions, hubs=max(0, hubs - 1))",
    ),
    Fault(
        "a bucket cut at the border of two blocks",
        "spark",
        "meets_in_a_bucket",
        "engines/spark/partition/bucket.py",
        "numbered(part.block, part.rows[span])",
        "numbered(received[0].block, part.rows[span])",
    ),
    Fault(
        "a component cut in two where its blocks meet",
        "spark",
        PAIRS,
        "engines/spark/partition/group.py",
        "    labels = _labels_of(labelled, near.first)\n",
        "    inside = blocks_of(near.first) == blocks_of(near.second)\n"
        "    near = Near(*(column[inside] for column in near))\n"
        "    labels = _labels_of(labelled, near.first)\n",
    ),
    Fault(
        "a component that grew in rounds and lost a document",
        "spark",
        "round",
        "engines/spark/component.py",
        "            return edges\n        state",
        "            return edges.map(lambda e: Edges(*(c[1:] for c in e)))\n        state",
    ),
    Fault(
        "all pairs without those of copies on Spark",
        "spark",
        ALL_PAIRS,
        "engines/spark/partition/group.py",
        "return give_back_copies(*known, same, all_pairs=settings.all_pairs)",
        "return give_back_copies(*known, same, all_pairs=False)",
    ),
    Fault(
        "an id shifted by one on Spark",
        "spark",
        PAIRS,
        "engines/spark/partition/row.py",
        "group.ids(pairs.second),",
        "group.ids(pairs.second - 1),",
    ),
    Fault(
        "rows in the order of their second documents",
        "spark",
        PAIRS,
        "engines/spark/partition/row.py",
        "np.lexsort((second, first))",
        "np.lexsort((first, second))",
    ),
    Fault(
        "clusters of two blocks that share numbers",
        "spark",
        PAIRS,
        "engines/spark/partition/row.py",
        "numbers - 1 + starts[number]",
        "numbers - 1 + starts[max(0, number - 1)]",
    ),
    Fault(
        "of the weakest links of some shares not the weakest told",
        "spark",
        PAIRS,
        "engines/spark/partition/row.py",
        "np.minimum.reduceat(weakest, np.flatnonzero(_is_new(first)))",
        "np.maximum.reduceat(weakest, np.flatnonzero(_is_new(first)))",
    ),
    Fault(
        "only one share of a large component listed",
        "spark",
        PAIRS,
        "engines/spark/partition/group.py",
        "theirs = share.places_of_pairs(labels, near.first, shares, partitions)",
        "theirs = share.places_of_pairs(labels, near.first, shares, partitions)\n"
        "    at_home = theirs == share.homes(labels, partitions)\n"
        "    theirs, near = theirs[at_home], Near(*(column[at_home] for column in near))",
    ),
    Fault(
        "the weakest link off by one cluster",
        "spark",
        PAIRS,
        "engines/spark/partition/row.py",
        "column_of(weakest[clusters.numbers])",
        "column_of(weakest[clusters.numbers - 1])",
    ),
    Fault(
        "the best one of a partition ranked last",
        "spark",
        SURVIVORS,
        "engines/spark/partition/group.py",
        "return rank(self, self.near, keep)",
        "return np.roll(rank(self, self.near, keep), -1)",
    ),
    Fault(
        "a leader that is not as good as its copies on Spark",
        "spark",
        "survives and last and leader",
        "engines/spark/partition/group.py",
        "leading = order if keep is None else by_best_copy(order, self)",
        "leading = order",
    ),
    Fault(
        "a survivor that is no pair has no similarity",
        "spark",
        "survives and last and components",
        "engines/spark/partition/group.py",
        "now = compared(texts, a, b, self.measure, None)",
        "now = np.zeros(len(a))",
    ),
    Fault(
        "the row after a removed one dropped on Spark",
        "spark",
        SURVIVORS,
        "engines/spark/partition/row.py",
        "block.kept(gone)",
        "block.kept(gone + 1)",
    ),
    Fault(
        "an audit blind to pairs with documents that were not drawn",
        "spark",
        "an_audit",
        "engines/spark/partition/search.py",
        "np.isin(near.first, documents) | np.isin(near.second, documents)",
        "np.isin(near.first, documents) & np.isin(near.second, documents)",
    ),
    Fault(
        "an id that repeats counted for each later document on Spark",
        "spark",
        "share_an_id",
        "engines/spark/partition/copy.py",
        "len(np.unique(_copies(same).originals))",
        "len(_copies(same).originals)",
    ),
    Fault(
        "a document whose id came before not compared on Spark",
        "spark",
        "share_an_id",
        "engines/spark/partition/copy.py",
        "np.isin(numbered(number, signed.rows), known.texts.documents)",
        "np.isin(numbered(number, signed.rows), [*known.texts.documents, *known.ids.documents])",
    ),
    Fault(
        "places in a partition told for places in a frame",
        "spark",
        "share_an_id",
        "engines/spark/partition/copy.py",
        "shift = starts[number] if starts else 0",
        "shift = 0",
    ),
    Fault(
        "of a chain only one removed document counted on Spark",
        "spark",
        SURVIVORS,
        "engines/spark/partition/row.py",
        "(measure.shown(shown) < float(threshold)).sum()",
        "(measure.shown(shown) < float(threshold)).any()",
    ),
    Fault(
        "of equal pairs the last ones shown",
        "spark",
        PAIRS,
        "engines/spark/partition/lookup.py",
        "order = np.lexsort((pairs.second, pairs.first))",
        "order = np.lexsort((pairs.second, pairs.first))[::-1]",
    ),
    Fault(
        "the kind of difference to another text",
        "spark",
        "kind_of_difference",
        "engines/spark/partition/difference.py",
        "kind_of_fingerprints(known[a], known[b])",
        "kind_of_fingerprints(known[min(known)], known[b])",
    ),
    Fault(
        "a message that stays in its task goes to the next block",
        "spark, together",
        PAIRS,
        "engines/spark/exchange.py",
        "received[target].append(message)",
        "received[target - 1].append(message)",
    ),
)


def main() -> int:
    wanted = " ".join(sys.argv[1:])
    faults = [fault for fault in FAULTS if wanted in f"{fault.engine} {fault.name}"]
    caught = sum([reported(fault) for fault in faults])
    print(f"{caught} of {len(faults)} planted faults caught")
    return 0 if faults and caught == len(faults) else 1


def reported(fault: Fault) -> bool:
    """Whether it was caught; one line says so."""
    with tempfile.TemporaryDirectory(prefix="planted-") as folder:
        plant(fault, Path(folder))
        failures = failing(fault, Path(folder))
    by_answer = [test for test, is_answer in failures if is_answer]
    verdict = f"caught by {by_answer[0]}" if by_answer else "NOT CAUGHT"
    if failures and not by_answer:
        verdict += f": {failures[0][0]} failed, and not by an answer"
    print(f"{fault.engine:5}  {fault.name}: {verdict}", flush=True)
    return bool(by_answer)


def plant(fault: Fault, folder: Path) -> None:
    """A copy of the package with the fault in it, which Python finds before the installed one."""
    package = folder / "nearly"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_kernels.__file__, package)
    (folder / "sitecustomize.py").write_text(SITE)
    file = package / fault.file
    text = file.read_text()
    if text.count(fault.old) != 1:
        sys.exit(
            f"{fault.name}: {fault.old!r} occurs {text.count(fault.old)} times in {fault.file}, "
            "and has to occur once. Adapt the fault to the source."
        )
    file.write_text(text.replace(fault.old, fault.new))


def failing(fault: Fault, folder: Path) -> list[tuple[str, bool]]:
    """Tests that failed, and whether by an assertion of the contract itself."""
    report = folder / "report.xml"
    chosen = f"{RUNS[fault.engine]} and ({fault.noticed_by})"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", "-x"]
    subprocess.run(
        [*command, f"--junitxml={report}", "-k", chosen, *CONTRACT],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    if not report.exists():
        sys.exit(
            f"{fault.name}: pytest could not run; try: pytest -k {chosen!r} {' '.join(CONTRACT)}"
        )
    cases = list(ElementTree.parse(report).iter("testcase"))  # noqa: S314 - written by pytest
    if not cases:
        sys.exit(f"{fault.name}: no test is called {chosen!r}")
    return [
        (str(case.get("name")), _is_answer(failure.text or ""))
        for case in cases
        for failure in [*case.iter("failure"), *case.iter("error")]
    ]


def _is_answer(trace: str) -> bool:
    """An assertion of a test, not of the oracle that refuses a case, and no other error."""
    last = [line for line in trace.splitlines() if line.strip()][-1]
    places = [f"{folder}{test}:" for test in CONTRACT for folder in ("tests/", "")]
    return last.startswith(tuple(places)) and last.endswith(": AssertionError")


if __name__ == "__main__":
    sys.exit(main())

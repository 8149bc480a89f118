"""A lasting index of documents: made once, added to, asked; one writer, any number of readers."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from nearly.documents.two_sided import check_alike
from nearly.engines.base import Parts
from nearly.errors import MissingError, SettingsError, SinkError, UnreadableError
from nearly.index.adding import Adding, explained, running_of
from nearly.index.answer import Added, Answer, Checked, Id, Stats
from nearly.index.catalogue import IdKind
from nearly.index.checking import check, examine
from nearly.index.cluster import clusters
from nearly.index.creation import create
from nearly.index.directory import DiskDirectory
from nearly.index.live import Live
from nearly.index.making import Making, Shape
from nearly.index.old import Old, check_texts, every_document, met, old_side
from nearly.index.parted import create_on_machines
from nearly.index.parted_old import met_in_parts
from nearly.index.plain_question import ask_plainly
from nearly.index.postgres_place import PostgresPlace, is_postgres
from nearly.index.postgres_store import PostgresStore, create_tables, open_tables
from nearly.index.question import content_of
from nearly.index.search import Asking, ask
from nearly.index.snapshot import copy_index
from nearly.index.store import Store, open_store
from nearly.index.view import View
from nearly.measures.base import Measure
from nearly.run import in_parts, reopened
from nearly.schemas import SKIPPED
from nearly.settings import Settings
from nearly.sources import Skipped

AnyStore = Store | PostgresStore

#: How often parts ask anew, where somebody writes to the index meanwhile.
TRIES: Final = 3

__all__ = ["Index", "is_index"]


class Index:
    """Documents that are kept with their signatures, to be asked for what is near.

    An index is a folder, or tables of a PostgreSQL database. To a folder one process at a time may
    write; others read, and see whole commits only. Every answer is verified exactly.
    """

    # Made and opened

    #: Records that `create` left out, and why: record, reason. All are counted, not all listed.
    skipped: pa.Table = SKIPPED.empty_table()
    skipped_count: int = 0

    def __init__(self, store: AnyStore) -> None:
        """For `create` and `open`."""
        self._store = store

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        source: Any = None,
        *,
        texts: bool = True,
        **options: Any,
    ) -> Self:
        """Make an index in a new folder, or at postgresql://…, of a source or empty.

        The options are those of `find` that say how documents are compared (`measure`, `threshold`,
        `k`, …), which are fixed from now on, and those that say how the source is read (`id`,
        `text`, `items`, …). Without a `seed`, one is drawn. `texts=False` keeps sets of hashes
        instead of texts. With `engine="spark"`, or of a Spark DataFrame, many machines write the
        segments, to a folder that all of them see. What was left out is in `skipped`.
        """
        running, rest = running_of(options)
        if source is None and (running.items is not None or running.vector is not None):
            raise SettingsError(
                "items or a vector were named and no source was given, which says what they are; "
                "create the index with its first documents"
            )
        skipped = Skipped(strict=running.strict)
        lying = in_parts(source, running)
        if lying is not None and source is None:
            raise SettingsError(
                "an index without documents needs no Spark; leave engine and master out"
            )
        if lying is not None:
            with explained(os.fspath(path)):
                create_on_machines(path, lying, rest, skipped, texts=texts)
        else:
            opened = None if source is None else reopened(source, running)
            making = Making.of(rest, opened, texts=texts)
            if is_postgres(path):
                create_tables(PostgresPlace.of(str(path)), making, opened, skipped)
            else:
                with explained(os.fspath(path)):
                    create(Path(path).absolute(), making, opened, skipped)
        made = cls.open(path)
        made.skipped, made.skipped_count = skipped.table(), len(skipped)
        return made

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, read_only: bool = False) -> Self:
        """Open an index that is there. Only one process at a time can do so to write."""
        if is_postgres(path):
            return cls(open_tables(PostgresPlace.of(str(path)), read_only=read_only))
        directory = _directory(path)
        with explained(os.fspath(path)):
            return cls(open_store(directory, read_only=read_only))

    def close(self) -> None:
        """Let go of all files; another process can write then."""
        with self._store.lock:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Asked

    def query(
        self,
        text: Any,
        *,
        k: int | None = None,
        threshold: float | None = None,
        within: float | None = None,
    ) -> Answer:
        """Ids and exact similarities (or distances) of what is near to a text, nearest first.

        All that reaches the threshold, or lies within the distance, of the index, unless another
        is given; with `k` alone, the `k` nearest of those that share a bucket with the text.
        """
        asking = self._asking(k, threshold, within)
        with self._store.reading() as view:
            return _answer(asking, view, text, k)

    def query_batch(
        self,
        texts: Sequence[Any],
        *,
        k: int | None = None,
        threshold: float | None = None,
        within: float | None = None,
    ) -> list[Answer]:
        """The same for several texts, all asked of the same commit."""
        asking = self._asking(k, threshold, within)
        with self._store.reading() as view:
            return [_answer(asking, view, text, k) for text in texts]

    def _asking(self, k: int | None, threshold: float | None, within: float | None) -> Asking:
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise SettingsError(f"k is {k!r}; give the number of documents to find, from 1 on")
        making = self._store.making
        is_usual = threshold is None and within is None and k is None
        return making.asking if is_usual else making.asking_at(threshold=threshold, within=within)

    def text(self, id: Id) -> str:  # noqa: A002
        """The text of a document, as it was added; KeyError where there is none of this id."""
        if not self.keeps_texts:
            raise SettingsError("the index keeps no texts; create it with texts to read them again")
        lives = self._of_id(id)
        live, document = _find(lives, self._store.id_digests([id])) or (None, 0)
        if live is None:
            raise KeyError(id)
        digests = live.segment.digests(live.segment.content_of(np.array([document])))
        for other in lives:
            contents = other.find_held(digests)[1]
            if len(contents):
                text: str = other.segment.texts(contents[:1])[0].as_py()
                return text
        raise UnreadableError(f"no segment holds the text of {id!r}; check the index")

    def __contains__(self, id: object) -> bool:  # noqa: A002
        if not isinstance(id, int | str):
            return False
        return _find(self._of_id(id), self._store.id_digests([id])) is not None

    def __len__(self) -> int:
        with self._store.reading() as view:
            return view.counts().documents

    @property
    def value(self) -> str:
        """What an answer says beside an id: similarity or distance."""
        return self._store.making.measure.value

    @property
    def holds(self) -> Literal["text", "items", "vector"]:
        """What its documents are."""
        making = self._store.making
        return "items" if making.holds_items else "text" if making.shape is None else "vector"

    @property
    def shape(self) -> Shape | None:
        """What its vectors are: of which numbers, and how many."""
        return self._store.making.shape

    @property
    def keeps_texts(self) -> bool:
        """Whether texts can be read again."""
        making = self._store.making
        return making.texts and making.keeping.is_text

    @property
    def id_kind(self) -> IdKind | None:
        """What its ids are: decided by the first document."""
        with self._store.reading() as view:
            return view.state.id_kind

    def stats(self) -> Stats:
        """How large it is, and what it was made with."""
        with self._store.reading() as view:
            counts, making, state = view.counts(), view.making, view.state
        measure, banding = making.measure, making.banding
        is_posted = making.poster is not None
        closeness = float(measure.closeness(measure.threshold(making.settings)))
        return Stats(
            documents=counts.documents,
            contents=counts.contents,
            segments=len(state.segments),
            pending=len(state.pending),
            gone=counts.gone,
            bytes=counts.size,
            measure=making.measure_name,
            compared=measure.compared,
            threshold=None if measure.is_distance else making.settings.threshold,
            within=making.settings.within,
            bands=0 if is_posted else banding.bands,
            rows=0 if is_posted else banding.rows,
            promised=1.0 if is_posted else banding.recall(closeness),
            texts=making.texts,
            commits=state.commit,
        )

    def clusters(self) -> pa.Table:
        """Clusters of all documents: id, cluster, weakest; a cluster keeps its number for good.

        The number is that of its first document. All documents are compared with each other, which
        takes as long as a run of `find` over them.
        """
        with self._store.reading() as view:
            return clusters(view)

    # Changed

    def add(
        self, source: Any, *, replace: bool = False, report: bool = True, **reading: Any
    ) -> Added:
        """Add documents: all of them, durably, or none.

        The source is anything that `find` takes, and `reading` how it is read (`id`, `text`, …). A
        document whose id is there already is skipped, or takes its place with `replace`. Documents
        without ids are numbered on. Unless `report` is False, new pairs are found on the way.
        """
        with self.adding() as adding:
            return adding.add(source, replace=replace, report=report, **reading)

    @contextmanager
    def adding(self) -> Iterator["Adding"]:
        """Documents that are written at once, and are in the index when the block ends well.

        So something else can happen in between, such as writing a file: what can fail has been
        done before.
        """
        with self._writing() as store, store.held():
            adding = Adding(store)
            try:
                yield adding
            except BaseException:
                adding.discard()
                raise
            adding.finish()

    def remove(self, ids: Iterable[Id]) -> int:
        """Remove documents by their ids; gives how many there were."""
        with self._writing() as store, explained("the index"):
            return store.remove(list(ids))

    def compact(self) -> None:
        """Write all segments as one, without what is gone."""
        with self._writing() as store, explained("the index"):
            store.compact()

    # New documents against these

    @property
    def place(self) -> str | None:
        """Its folder; None where it is elsewhere."""
        return self._store.place

    @property
    def name(self) -> str:
        """Its folder, or its address without a password."""
        return self._store.name

    def check_same(self, given: Mapping[str, Any]) -> None:
        """Refuse settings of a run that are not those of the index, by name."""
        self._store.making.check_same(given)

    def settings_of_run(self, given: Settings) -> tuple[Measure, Settings]:
        """How others are compared with these documents: as these are with each other."""
        making = self._store.making
        return making.measure, making.settings_of_run(given)

    def old_side(self, source: Any, *, every_copy: bool) -> Old:
        """The documents that have a pair with one of a source, as of the last commit."""
        check_alike(self._store.making.kind, source)
        with self._store.reading() as view:
            digests = met(view, source, Skipped(), self._store.workers())
            return old_side(view, digests, every_copy=every_copy)

    def old_side_in_parts(self, source: Any, parts: Parts, *, every_copy: bool) -> Old:
        """The same of a source that lies in parts, each of which opens the folder where it is."""
        check_alike(self._store.making.kind, source)
        check_texts(self._store.making)
        for _ in range(TRIES):
            with self._store.reading() as view:
                commits, digests = met_in_parts(parts, self.place or "")
                if commits == {view.state.commit}:
                    return old_side(view, digests, every_copy=every_copy)
        raise SinkError(
            f"{self.name} changed each time that it was asked; try again when nobody writes to it"
        )

    def every_document(self) -> Old:
        """All documents, as a source, as of the last commit."""
        with self._store.reading() as view:
            return every_document(view)

    # Looked after

    def check(self) -> Checked:
        """Read all of it: what is not as it was written, or makes no sense, is told."""
        with self._store.lock:
            if isinstance(self._store, PostgresStore):
                return Checked(problems=self._store.problems())
            return Checked(problems=examine(self._store))

    @staticmethod
    def check_at(path: str | os.PathLike[str], *, repair: bool = False) -> Checked:
        """The same of an index that perhaps cannot be opened any more.

        With `repair`, what is broken is dropped, and the ids of its documents are told; what can
        still be read stays.
        """
        if is_postgres(path):
            return _checked_tables(str(path), repair=repair)
        with explained(os.fspath(path)):
            return check(_directory(path), repair=repair)

    def snapshot(self, path: str | os.PathLike[str]) -> None:
        """Copy it to a new folder, whole as of one commit, whoever writes meanwhile."""
        if isinstance(self._store, PostgresStore):
            raise SettingsError(
                f"a snapshot to {os.fspath(path)!r} is of an index in a folder; of one in "
                "PostgreSQL make a copy with pg_dump, which is whole while others write"
            )
        with self._store.lock, explained(os.fspath(path)):
            here = Path(self._store.directory.catalogue).parent
            copy_index(self._store.catalogue, here, Path(path).absolute())

    @classmethod
    def restore(cls, snapshot: str | os.PathLike[str], path: str | os.PathLike[str]) -> Self:
        """Make an index in a new folder from a snapshot, which is checked first."""
        with cls.open(snapshot, read_only=True) as kept:
            found = kept.check()
            if not found.is_sound:
                raise UnreadableError(
                    f"the snapshot {os.fspath(snapshot)!r} is damaged: {found.problems[0]}"
                )
            kept.snapshot(path)
        return cls.open(path)

    @contextmanager
    def _writing(self) -> Iterator[AnyStore]:
        if self._store.read_only:
            raise SinkError("the index was opened for reading only; open it without read_only")
        with self._store.lock:
            yield self._store

    # Ids

    def _of_id(self, id: Id) -> Sequence[Live]:  # noqa: A002
        with self._store.reading() as view:
            return view.of_ids(self._store.id_digests([id]))


def _answer(asking: Asking, view: View, text: Any, k: int | None) -> Answer:
    found = ask_plainly(asking, view, text, k)
    return ask(asking, view.near, content_of(view.making, text), k) if found is None else found


def _find(lives: Sequence[Live], digests: npt.NDArray[np.uint64]) -> tuple[Live, int] | None:
    """The document that has an id."""
    for live in lives:
        documents = live.find_ids(digests)[1]
        if len(documents):
            return live, int(documents[0])
    return None


def is_index(given: Any) -> bool:
    """Whether this is an index, or the folder of one."""
    if is_postgres(given):
        return True
    if isinstance(given, str | os.PathLike):
        return os.path.isfile(DiskDirectory(Path(os.fsdecode(given))).catalogue)
    return isinstance(given, Index)


def _checked_tables(path: str, *, repair: bool) -> Checked:
    if repair:
        raise SettingsError(
            "repair is for an index in a folder; what PostgreSQL has lost, bring back from a copy "
            "of pg_dump"
        )
    with Index.open(path, read_only=True) as index:
        return index.check()


def _directory(path: str | os.PathLike[str]) -> DiskDirectory:
    directory = DiskDirectory(Path(path).absolute())
    if not os.path.isfile(directory.catalogue):
        raise MissingError(
            f"there is no index in {os.fspath(path)!r}; make one with nearly index create, or "
            "nearly.Index.create"
        )
    return directory

"""What comes from a browser, and paths that it names: limited, and never outside. Named attacks."""

import io
import os
import stat
import struct
import zipfile
import zlib
from pathlib import Path
from typing import BinaryIO

import pytest
from web_desk import BASE, client_of, desk_of

from nearly.errors import NearlyError, SettingsError
from nearly.web.chosen_path import chosen_path, listed
from nearly.web.upload import Limits, receive

OURS = {"origin": BASE, "sec-fetch-site": "same-origin"}
SMALL = Limits(bytes=10_000, files=5, depth=3, name=40, ratio=50)


def sent(name: str, content: bytes = b"some words") -> tuple[str, BinaryIO]:
    return name, io.BytesIO(content)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return packed.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (mode | 0o644) << 16
    return member


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_files_folders_and_zips_are_put_down(tmp_path: Path) -> None:
    packed = zipped(("b/two.txt", b"two"), ("three.txt", b"three"))
    got = receive([sent("one.txt"), sent("deep/four.txt"), sent("x.zip", packed)], tmp_path / "d")
    names = {"one.txt", "deep/four.txt", "b/two.txt", "three.txt"}
    assert everything(tmp_path / "d") == names == set(got.files)
    assert (tmp_path / "d/b/two.txt").read_bytes() == b"two"
    assert stat.S_IMODE((tmp_path / "d/one.txt").stat().st_mode) == 0o600


NAMES = {
    "climbs out": "../evil.txt",
    "climbs out later": "a/../../evil.txt",
    "climbs out with backslashes": "..\\evil.txt",
    "an absolute path": "/tmp/evil.txt",  # noqa: S108
    "a drive": "C:\\evil.txt",
    "a share": "\\\\host\\evil.txt",
    "a device of Windows": "con.txt",
    "a device in a folder": "a/NUL",
    "a byte of nothing": "a\x00.txt",
    "a line break": "a\nb.txt",
    "a name that turns round": "a\u202etxt.exe",
    "only dots": "..",
    "nothing": "",
    "too deep": "a/b/c/d/e.txt",
    "too long": "x" * 60 + ".txt",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
@pytest.mark.parametrize("way", ["sent", "zipped"])
def test_a_name_that_lies_writes_nothing_outside(tmp_path: Path, name: str, way: str) -> None:
    given = sent(name) if way == "sent" else sent("a.zip", zipped((name or "/", b"words")))
    (tmp_path / "in").mkdir()
    if way == "zipped" and "\x00" in name:  # Python cuts such a name
        receive([given], tmp_path / "in" / "documents", SMALL)
        assert everything(tmp_path) == {"in/documents/a"}
        return
    with pytest.raises(SettingsError):
        receive([given], tmp_path / "in" / "documents", SMALL)
    assert everything(tmp_path) == set()


def test_a_zip_cannot_write_through_a_link(tmp_path: Path) -> None:
    link = special("way", stat.S_IFLNK)
    packed = zipped((link, str(tmp_path).encode()), ("way/evil.txt", b"evil"), ("a.txt", b"a"))
    got = receive([sent("a.zip", packed)], tmp_path / "documents")
    assert got.left_out == [("way", "a symbolic link")]
    assert not (tmp_path / "evil.txt").exists()
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_a_device_in_a_zip_is_left_out(tmp_path: Path, kind: int) -> None:
    packed = zipped((special("tape", kind), b""), ("a.txt", b"a"))
    got = receive([sent("a.zip", packed)], tmp_path / "documents")
    assert [name for name, _ in got.left_out] == ["tape"]
    assert everything(tmp_path / "documents") == {"a.txt"}


def test_a_zip_in_a_zip_is_left_out(tmp_path: Path) -> None:
    packed = zipped(("inner.zip", zipped(("b.txt", b"b"))), ("a.txt", b"a"))
    got = receive([sent("a.zip", packed)], tmp_path / "documents")
    assert got.left_out == [("inner.zip", "an archive in an archive")]


def test_a_bomb_of_zeros_is_refused(tmp_path: Path) -> None:
    packed = zipped(("zeros.txt", b"\0" * 60_000_000))
    assert len(packed) < 100_000
    with pytest.raises(SettingsError, match="times its packed size"):
        receive([sent("a.zip", packed)], tmp_path / "documents", Limits())


def test_a_zip_that_lies_about_its_sizes_is_counted(tmp_path: Path) -> None:
    packed = bytearray(zipped(("a.txt", b"x" * 9_000_000)))
    for sign, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        struct.pack_into("<L", packed, packed.index(sign) + place, 10)
    with pytest.raises(SettingsError):
        receive([sent("a.zip", bytes(packed))], tmp_path / "documents", SMALL)


def test_overlapping_members_count_each_time(tmp_path: Path) -> None:
    packed = zipped(*((f"{n}.txt", b"word " * 1_000) for n in range(4)))
    with pytest.raises(SettingsError, match=r"more than 10,000 bytes"):
        receive([sent("a.zip", packed)], tmp_path / "documents", SMALL)


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="more than 5 files came"):
        receive([sent(f"{n}.txt") for n in range(6)], tmp_path / "documents", SMALL)
    packed = zipped(*((f"{n}.txt", b"") for n in range(6)))
    with pytest.raises(SettingsError, match="more than 5 files came"):
        receive([sent("a.zip", packed)], tmp_path / "more", SMALL)


def test_too_many_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"more than 10,000 bytes"):
        receive([sent("a.txt", b"x" * 10_001)], tmp_path / "documents", SMALL)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="two files are called"):
        receive([sent("a.txt", b"first"), sent("a.txt", b"second")], tmp_path / "documents")
    assert (tmp_path / "documents/a.txt").read_bytes() == b"first"


def test_a_file_in_the_way_of_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="inside of what is no folder"):
        receive([sent("a"), sent("a/b.txt")], tmp_path / "documents")


@pytest.mark.parametrize(
    "content", [b"", b"PK", b"no zip", zipped(("a.txt", b"a"))[:-10], b"PK\x05\x06" + b"\xff" * 18]
)
def test_a_broken_zip_is_said(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(SettingsError, match="no zip that can be read"):
        receive([sent("a.zip", content)], tmp_path / "documents")


def test_damaged_content_is_said(tmp_path: Path) -> None:
    packed = bytearray(zipped(("a.txt", os.urandom(500))))
    packed[60] ^= 0xFF
    with pytest.raises((SettingsError, zlib.error)) as caught:
        receive([sent("a.zip", bytes(packed))], tmp_path / "documents")
    assert isinstance(caught.value, SettingsError)


def test_an_encrypted_file_is_left_out(tmp_path: Path) -> None:
    packed = bytearray(zipped(("a.txt", b"a"), ("b.txt", b"b")))
    for sign, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        packed[packed.index(sign) + place] |= 1
    got = receive([sent("a.zip", bytes(packed))], tmp_path / "documents")
    assert got.left_out == [("a.txt", "encrypted")]


def test_an_upload_that_fails_leaves_no_run() -> None:
    desk = desk_of()
    files = [("file", ("a.txt", b"some words")), ("file", ("../evil.txt", b"evil"))]
    answer = client_of(desk).post("/upload", files=files, headers=OURS)
    assert answer.status_code == 400
    assert "not safe to write" in answer.text
    assert desk.runs.names() == []
    assert everything(desk.root) == set()


def test_an_upload_larger_than_the_limit_is_refused() -> None:
    headers = OURS | {"content-length": str(10**12), "content-type": "multipart/form-data"}
    assert client_of(desk_of()).post("/upload", content=b"", headers=headers).status_code == 413


def test_an_upload_of_nothing_is_said() -> None:
    answer = client_of(desk_of()).post("/upload", data={"a": "b"}, headers=OURS)
    assert answer.status_code == 400
    assert "no file came" in answer.text


PATHS = {
    "climbs out": "../secret",
    "climbs out later": "a/../../secret",
    "an absolute path": "/etc/passwd",
    "a home": "~root/.ssh",
    "a link to a file": "link",
    "a link to a folder": "way/secret",
    "a device": "pipe",
    "a byte of nothing": "a\x00b",
    "a backslash": "a\\..\\b",
    "nothing": "",
    "a dot": ".",
    "a pattern": "*.txt",
    "a query": "SELECT * FROM 'a.txt'",
    "an address": "http://127.0.0.1/",
    "a table inside": "a.txt::sqlite_master",
    "too long": "x" * 5_000,
    "a folder that holds a link": "holds",
}


@pytest.mark.parametrize("given", PATHS.values(), ids=PATHS.keys())
def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path, given: str) -> None:
    (tmp_path / "secret").write_text("secret")
    root = tmp_path / "root"
    (root / "holds").mkdir(parents=True)
    (root / "a.txt").write_text("a")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "holds/link.txt").symlink_to(tmp_path / "secret")
    (root / "way").symlink_to(tmp_path)
    os.mkfifo(root / "pipe")
    with pytest.raises(NearlyError):
        chosen_path(root, given)


def test_a_path_below_the_folder_is_chosen(tmp_path: Path) -> None:
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "deep/er/a.txt").write_text("a")
    (tmp_path / ".hidden").write_text("h")
    assert chosen_path(tmp_path, "deep/er/a.txt").read_text() == "a"
    assert chosen_path(tmp_path, "./deep//er/").is_dir()
    assert listed(tmp_path) == ["deep/"]

"""Packages: what is taken, what is refused and with which words, and what is written."""

import io
import json
import os
import random
import re
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.packages import archive as package
from engine.packages.manifest import Manifest, PackageRefused
from engine.sandbox.files import inventory
from tests.support import languages

TOML = b'name = "My bot"\nruntime = "python"\nentry = "bot.py"\ngames = ["partnership"]\n'


def zipped(files: dict[str, bytes], **changes: int) -> bytes:
    """Return a zip of these files; `changes` are attributes set on every entry."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for key, value in changes.items():
                setattr(info, key, value)
            archive.writestr(info, data)
    return buffer.getvalue()


def bot_zip(extra: dict[str, bytes] | None = None) -> bytes:
    return zipped({"bot.toml": TOML, "bot.py": b"print(1)\n"} | (extra or {}))


def refusal(data: bytes, filename: str = "bot.zip") -> str:
    with pytest.raises(PackageRefused) as caught:
        package.read(data, filename)
    message = str(caught.value)
    assert message.isprintable()
    assert "\n" not in message
    return message


def test_read_zip_gives_manifest_and_files() -> None:
    read = package.read(bot_zip({"data/table.bin": b"\0\1"}), "bot.zip")

    assert read.manifest == Manifest("My bot", "python", "bot.py", ("partnership",))
    assert dict(read.files) == {"bot.py": b"print(1)\n", "bot.toml": TOML, "data/table.bin": b"\0\1"}


def test_read_source_file_makes_a_manifest() -> None:
    read = package.read(b"print(1)\n", "C:\\Users\\Ana\\mi_bot.py", games=["corriente"])

    assert read.manifest == Manifest("mi_bot", "python", "mi_bot.py", ("corriente",))
    assert list(read.files) == ["bot.toml", "mi_bot.py"]
    assert package.read(read.zip(), "x.zip").manifest == read.manifest


def test_identity_depends_on_contents_only() -> None:
    first = package.read(zipped({"bot.toml": TOML, "bot.py": b"1"}, date_time=(1999, 1, 1, 0, 0, 0)), "a.zip")
    other = package.read(zipped({"bot.py": b"1", "bot.toml": TOML}, date_time=(2020, 1, 1, 0, 0, 0)), "b.zip")
    third = package.read(zipped({"bot.py": b"2", "bot.toml": TOML}), "b.zip")

    assert first.sha256 == other.sha256 != third.sha256
    assert first.zip() == other.zip()
    assert package.read(first.zip(), "c.zip").sha256 == first.sha256


def test_identity_of_a_very_repetitive_bot_survives_its_own_zip() -> None:
    read = package.read(b"x = 1\n" * 100_000, "bot.py")

    assert package.read(read.zip(), "bot.zip").sha256 == read.sha256


def test_top_folder_and_litter_are_dropped() -> None:
    read = package.read(
        zipped({"bot/bot.toml": TOML, "bot/bot.py": b"1", "bot/__pycache__/bot.pyc": b"2", "bot/.DS_Store": b"3"}),
        "a.zip",
    )

    assert sorted(read.files) == ["bot.py", "bot.toml"]


LITTER = [
    "._bot.py", "__MACOSX/._bot.py", "desktop.ini", "data/Thumbs.db", *[f".git/objects/{number:04x}" for number in range(520)],
    *[f".venv/lib/module{number}.py" for number in range(2000)],
]  # fmt: skip


def test_litter_is_dropped_before_it_is_counted(tmp_path: Path) -> None:
    files = {"bot.toml": TOML, "bot.py": b"1"} | dict.fromkeys(LITTER, b"litter")
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)

    assert sorted(package.read(zipped(files), "a.zip").files) == ["bot.py", "bot.toml"]
    assert sorted(package.read_path(tmp_path).files) == ["bot.py", "bot.toml"]


WRITTEN_APART, COMPOSED = "espan\u0303ol.py", "espa\u00f1ol.py"
ACCENTED = TOML.replace(b"bot.py", COMPOSED.encode())


@pytest.mark.parametrize(
    "toml", [ACCENTED, TOML.replace(b"bot.py", WRITTEN_APART.encode()), b"\xef\xbb\xbf" + ACCENTED]
)
@pytest.mark.parametrize("name", [WRITTEN_APART, COMPOSED])
def test_an_accent_is_the_same_however_it_is_written(name: str, toml: bytes, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_bytes(toml)
    (tmp_path / name).write_bytes(b"1")

    for read in (package.read(zipped({"bot.toml": toml, name: b"1"}), "a.zip"), package.read_path(tmp_path)):
        assert (read.manifest.entry, sorted(read.files)) == (COMPOSED, ["bot.toml", COMPOSED])


def test_a_stored_package_keeps_its_paths() -> None:
    """Its identity is a hash over them, also if it was stored when paths were not tidied yet."""
    files = {"bot.toml": TOML.replace(b"bot.py", WRITTEN_APART.encode()), WRITTEN_APART: b"1", "desktop.ini": b"2"}
    stored = package.BotPackage(
        Manifest("My bot", "python", WRITTEN_APART, ("partnership",)), dict(sorted(files.items()))
    )

    assert package.read_stored(stored.zip()) == stored


@pytest.mark.parametrize("name", ["bot", "espa\u00f1ol", "\U0001f600", '\\\U0001f600"\u00f1'])
def test_every_name_can_be_stored(name: str) -> None:
    build = TOML.replace(b'runtime = "python"', b'build = "typescript"').replace(b"bot.py", b"bot.ts")
    toml = re.sub(b"name = .*", lambda _: f"name = '{name}'".encode(), build)
    built = package.read(zipped({"bot.toml": toml, "bot.ts": b"1"}), "a.zip").with_result(b'{"bot.js": "MQ=="}')
    assert package.read_stored(built.zip()) == built
    assert built.manifest.name == name

    if "\\" not in name:
        stored = package.read(b"1", f"{name}.py")
        assert package.read_stored(stored.zip()) == stored


def test_names_in_utf8_are_read_though_the_zip_does_not_say_so() -> None:
    """Cover what the archiver of macOS writes."""
    data = zipped({"bot.toml": ACCENTED, COMPOSED: b"1"})
    flagged = COMPOSED.encode()
    assert data.count(flagged) == 2
    unflagged = bytearray(data)
    for header, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := unflagged.find(header, at + 1)) >= 0:
            unflagged[at + flags + 1] &= ~0x08  # bit 11 of the flags

    assert sorted(package.read(bytes(unflagged), "a.zip").files) == ["bot.toml", COMPOSED]


def test_names_in_the_code_page_of_dos_are_read_too() -> None:
    """Cover what old tools of Windows write."""
    name = "espa\u00f1ol.py"
    data = zipped({"bot.toml": ACCENTED, "espa?ol.py": b"1"}).replace(b"espa?ol.py", name.encode("cp437"))

    assert sorted(package.read(data, "a.zip").files) == ["bot.toml", name]


@pytest.mark.parametrize("prefix", ["", "bot/"])
@pytest.mark.parametrize("separator", ["/", "\\"])
def test_paths_are_read_as_each_tool_writes_them(prefix: str, separator: str) -> None:
    files = {"./" + prefix + "bot.toml": TOML, "./" + prefix + "bot.py": b"1", "./" + prefix + "data/x": b"2"}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo("x")
            info.filename = name.replace("/", separator)  # past the constructor
            archive.writestr(info, data)

    assert sorted(package.read(buffer.getvalue(), "a.zip").files) == ["bot.py", "bot.toml", "data/x"]


def test_empty_folders_are_passed_over() -> None:
    read = package.read(bot_zip({"data/": b"", "data/x": b"1", "z": b"2"}), "a.zip")

    assert sorted(read.files) == ["bot.py", "bot.toml", "data/x", "z"]


def test_names_of_empty_folders_are_looked_at_too() -> None:
    assert "invisible" in refusal(bot_zip({"bad\x07/": b""}))


def test_a_folder_with_contents_of_its_own_is_refused() -> None:
    assert "a folder with contents" in refusal(with_entry("x/", b"2", stat.S_IFDIR))


def with_entry(name: str, data: bytes, kind: int) -> bytes:
    """Return the zip of a bot and one more entry of this kind."""
    buffer = io.BytesIO(bot_zip())
    with zipfile.ZipFile(buffer, "a") as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = (kind | 0o644) << 16
        archive.writestr(info, data)
    return buffer.getvalue()


def test_a_bot_of_one_file_is_called_by_the_beginning_of_its_name() -> None:
    read = package.read(b"1", "x" * 70 + ".py")

    assert (read.manifest.name, read.manifest.entry) == ("x" * 60, "x" * 70 + ".py")


def test_read_path_of_folder_zip_and_file(tmp_path: Path) -> None:
    (tmp_path / "bot" / "__pycache__").mkdir(parents=True)
    (tmp_path / "bot" / "bot.toml").write_bytes(TOML)
    (tmp_path / "bot" / "bot.py").write_bytes(b"1")
    (tmp_path / "bot" / "__pycache__" / "x.pyc").write_bytes(b"2")
    (tmp_path / "bot.zip").write_bytes(zipped({"bot.toml": TOML, "bot.py": b"1"}))

    folder = package.read_path(tmp_path / "bot")

    assert folder.sha256 == package.read_path(tmp_path / "bot.zip").sha256
    assert package.read_path(tmp_path / "bot" / "bot.py").manifest.entry == "bot.py"


def test_own_zip_says_when_it_was_made_of_nobody() -> None:
    """The same contents are the same bytes: no date, no system and no owner's bits are in them."""
    read = package.read(bot_zip({"text": b"".join(b"line %d\n" % i for i in range(9000))}), "a.zip")

    entries = zipfile.ZipFile(io.BytesIO(read.zip())).infolist()

    assert [info.filename for info in entries] == ["bot.py", "bot.toml", "text"]
    for info in entries:
        assert (info.date_time, info.create_system) == ((1980, 1, 1, 0, 0, 0), 3)
        assert info.external_attr >> 16 == stat.S_IFREG | 0o644
    assert entries[-1].file_size > 64 * 1024 > 3 * entries[-1].compress_size


def test_unpack_writes_plain_modes_once(tmp_path: Path) -> None:
    read = package.read(
        zipped({"bot.toml": TOML, "bot.py": b"1", "a/b/c.txt": b"2"}, external_attr=(stat.S_IFREG | 0o4777) << 16),
        "a.zip",
    )

    dest = read.unpack(tmp_path / "new" / "deep" / read.sha256)
    again = read.unpack(dest)

    assert again == dest
    assert oct(dest.stat().st_mode & 0o7777) == "0o755"
    modes = {path.relative_to(dest).as_posix(): oct(path.stat().st_mode & 0o7777) for path in dest.rglob("*")}
    assert modes == {"a": "0o755", "a/b": "0o755", "a/b/c.txt": "0o644", "bot.py": "0o644", "bot.toml": "0o644"}
    assert [path.name for path in dest.parent.iterdir() if not path.name.startswith(".")] == [read.sha256]


@pytest.fixture
def unpacked(tmp_path: Path) -> tuple[package.BotPackage, Path]:
    read = package.read(zipped({"bot.toml": TOML, "bot.py": b"print(1)", "data/weights": b"2" * 9000}), "a.zip")
    return read, read.unpack(tmp_path / read.sha256)


def emptied(dest: Path) -> None:
    for path in dest.rglob("*"):
        if path.is_file():
            path.write_bytes(b"")


def rotten(dest: Path) -> None:
    """A byte has turned over, and by size and time nothing has happened; then the machine was started again."""
    path = dest / "data" / "weights"
    before = path.stat()
    path.write_bytes(b"2" * 8999 + b"3")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    note = inventory.place(dest)
    note.write_text(note.read_text().replace(inventory.kernel(), "the one before"))


def without_folder(dest: Path) -> None:
    shutil.rmtree(dest / "data")
    (dest / "data").write_bytes(b"")


def closed(dest: Path) -> None:
    (dest / "bot.py").chmod(0o600)


def with_a_damaged_note(dest: Path) -> None:
    emptied(dest)
    inventory.place(dest).write_text('{"made": 1')


@pytest.mark.parametrize("damage", [emptied, rotten, without_folder, closed, with_a_damaged_note, shutil.rmtree])
def test_what_the_disk_has_damaged_is_unpacked_again(
    damage: Callable[[Path], None], unpacked: tuple[package.BotPackage, Path]
) -> None:
    read, dest = unpacked

    damage(dest)
    read.unpack(dest)

    assert {path.relative_to(dest).as_posix(): path.read_bytes() for path in dest.rglob("*") if path.is_file()} == {
        name: read.files[name] for name in ("bot.py", "bot.toml", "data/weights")
    }
    assert oct((dest / "bot.py").stat().st_mode & 0o777) == "0o644"
    assert inventory.find_damage(dest, whole=True) == ""


def test_sound_files_are_not_written_again(unpacked: tuple[package.BotPackage, Path]) -> None:
    """Whatever their times: what is read and found to be right stays, and its new times are noted."""
    read, dest = unpacked
    token, node = inventory.install_token(dest), (dest / "bot.py").stat().st_ino
    os.utime(dest / "bot.py", ns=(0, 0))

    read.unpack(dest)

    assert ((dest / "bot.py").stat().st_ino, inventory.install_token(dest)) == (node, token)
    (dest / "bot.py").write_bytes(b"print(2)")  # the note has the time that it had before
    read.unpack(dest)
    assert ((dest / "bot.py").read_bytes(), inventory.install_token(dest) != token) == (b"print(1)", True)


def test_unpack_makes_only_a_binary_entry_executable(tmp_path: Path) -> None:
    source = tmp_path / "bot.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run([languages.find("cc"), "-static", "-o", tmp_path / "bot", source], check=True)
    toml = b'name = "C"\nruntime = "binary"\nentry = "bot"\n'
    read = package.read(zipped({"bot.toml": toml, "bot": (tmp_path / "bot").read_bytes()}), "a.zip")

    dest = read.unpack(tmp_path / "out")

    assert oct((dest / "bot").stat().st_mode & 0o7777) == "0o755"
    assert oct((dest / "bot.toml").stat().st_mode & 0o7777) == "0o644"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../evil", "leads out of the package"),
        ("a/../../evil", "leads out of the package"),
        ("a//b", "leads out of the package"),
        ("a/./b", "leads out of the package"),
        ("./../a", "leads out of the package"),
        ("/abs.py", "absolute"),
        ("C:/x.py", "colon"),
        ("a\\..\\w.py", "leads out of the package"),
        ("a/b\\w.py", "backslash"),
        ("nul\x00.py", "invisible"),
        ("bell\x07.py", "invisible"),
        ("right\u202eto.left", "invisible"),
        ("zero\u200bwidth", "invisible"),
        ("a" * 121, "longer than 120 bytes"),
        ("ñ" * 61, "longer than 120 bytes"),
        ("/".join("abcdefghi"), "deeper than 8"),
        ("trailing /x", "space or dot"),
        ("dot./x", "space or dot"),
    ],
)
def test_odd_paths_are_refused(name: str, words: str) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in (("bot.toml", TOML), ("bot.py", b"1")):
            archive.writestr(path, data)
        info = zipfile.ZipInfo("x")
        info.filename = name  # past the constructor, which would clean it
        archive.writestr(info, b"2")

    assert words in refusal(buffer.getvalue())


@pytest.mark.parametrize("name", ["a" * 120, "ñ" * 60, "/".join("abcdefgh")], ids=["bytes", "characters", "folders"])
def test_paths_are_taken_up_to_the_limit(name: str) -> None:
    assert name in package.read(bot_zip({name: b"1"}), "a.zip").files
    assert f"{name}/" not in package.read(bot_zip({f"{name}/": b""}), "a.zip").files


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK])
def test_links_and_devices_are_refused(kind: int) -> None:
    assert "link, device or pipe" in refusal(
        zipped({"bot.toml": TOML, "bot.py": b"/etc/passwd"}, external_attr=(kind | 0o777) << 16)
    )


def test_encrypted_entries_are_refused() -> None:
    data = bytearray(bot_zip())
    entry = data.find(b"PK\x01\x02")
    data[entry + 8] |= 1

    assert "is encrypted" in refusal(bytes(data))


def test_rare_compression_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("bot.toml", TOML)

    assert "rare compression method" in refusal(buffer.getvalue())


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "pair", [("a.py", "a.py"), ("a.py", "A.py"), ("straße", "STRASSE"), ("ñ", "n\u0303"), ("dir/x", "DIR/x")]
)
def test_names_that_some_file_system_cannot_tell_apart_are_refused(pair: tuple[str, str]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("bot.toml", TOML)
        for name in pair:
            archive.writestr(name, b"1")

    assert "the same file on some systems" in refusal(buffer.getvalue())


def test_file_used_as_folder_is_refused() -> None:
    assert "both a file and a folder" in refusal(bot_zip({"a": b"1", "A/b": b"2"}))


def test_too_many_files_are_refused() -> None:
    assert "more than 500 files" in refusal(bot_zip({f"f{i}": b"" for i in range(499)}))
    assert len(package.read(bot_zip({f"f{i}": b"" for i in range(498)}), "a.zip").files) == 500


def test_huge_directory_is_refused_before_it_is_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for i in range(12_000):
            archive.writestr(f"f{i}", b"")

    assert "more than 500 files" in refusal(buffer.getvalue())


@pytest.mark.parametrize(
    ("count", "size", "words"),
    [
        (3, package.MAX_DIRECTORY, "damaged"),  # the longest directory that is read, and none is there
        (3, package.MAX_DIRECTORY + 1, "more than 500 files"),
        (3, 0x1000000, "more than 500 files"),
        (0xFFFE, package.MAX_DIRECTORY, "damaged"),
        (0x00FF, package.MAX_DIRECTORY, "damaged"),
        (0xFFFF, package.MAX_DIRECTORY, "64-bit"),
        (3, 0xFFFFFFFE, "more than 500 files"),
        (3, 0xFFFFFFFF, "64-bit"),
    ],
)
def test_the_end_of_a_zip_says_how_long_its_directory_is(count: int, size: int, words: str) -> None:
    end = b"PK\x05\x06" + struct.pack("<HHHHLLH", 0, 0xFFFF, 0xFFFF, count, size, 0, 0)

    assert words in refusal(b"PK\x03\x04" + end)
    assert words in refusal(end)


def test_a_zip_that_points_to_a_64_bit_directory_is_refused() -> None:
    data = bot_zip()
    at = data.rfind(b"PK\x05\x06")

    assert "64-bit" in refusal(data[:at] + b"PK\x06\x07" + bytes(16) + data[at:])


def test_the_end_of_a_zip_is_found_before_the_longest_comment() -> None:
    buffer = io.BytesIO(bot_zip())
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = b"x" * 0xFFFF

    assert sorted(package.read(buffer.getvalue(), "a.zip").files) == ["bot.py", "bot.toml"]
    assert "no directory" in refusal(buffer.getvalue() + b"x")


MIB = 1024 * 1024
SMALL = sum(map(len, package.read(bot_zip(), "a.zip").files.values()))  # bytes of the bot of this file


@pytest.mark.parametrize("over", [0, 1])
def test_ten_mib_are_taken_unpacked_and_not_a_byte_more(tmp_path: Path, over: int) -> None:
    some = random.Random(1).randbytes(MIB // 32)
    data = (
        b"".join(some[i : i + 1024] * 32 for i in range(0, len(some), 1024)) * 10
    )  # can be packed well, but not too well
    data = data[: 10 * MIB - SMALL] + bytes(over)
    for name, content in {"bot.toml": TOML, "bot.py": b"print(1)\n", "data": data}.items():
        (tmp_path / name).write_bytes(content)

    if over:
        assert "more than 10 MB" in refusal(bot_zip({"data": data}))
        with pytest.raises(PackageRefused, match=r"more than 10 MB"):
            package.read_path(tmp_path)
    else:
        assert package.read(bot_zip({"data": data}), "a.zip").size == 10 * MIB
        assert package.read_path(tmp_path).size == 10 * MIB


def bomb(over: int) -> bytes:
    """Return a zip that unpacks to `over` bytes more than 100 times its size."""
    pad = random.Random(1).randbytes(1000)
    size = 100_000
    while True:
        data = bot_zip({"pad": pad, "zeros": bytes(size)})
        needed = 100 * len(data) + over - SMALL - len(pad)
        if needed == size:
            return data
        size = needed


def test_bomb_is_refused_by_ratio() -> None:
    assert package.read(bomb(0), "a.zip").size > 100_000
    assert "100 times its size" in refusal(bomb(1))


def test_64_kib_may_be_packed_as_well_as_can_be() -> None:
    assert package.read(bot_zip({"zeros": bytes(64 * 1024 - SMALL)}), "a.zip").size == 64 * 1024
    assert "100 times its size" in refusal(bot_zip({"zeros": bytes(64 * 1024 + 1 - SMALL)}))


@pytest.mark.parametrize("bit", [0x1, 0x20, 0x40, 0x2000])
def test_every_kind_of_encryption_is_refused(bit: int) -> None:
    data = bytearray(bot_zip())
    at = data.rfind(b"PK\x01\x02") + 8
    data[at : at + 2] = (int.from_bytes(data[at : at + 2], "little") | bit).to_bytes(2, "little")

    assert "encrypted" in refusal(bytes(data))


def test_other_flags_of_an_entry_mean_no_encryption() -> None:
    data = bytearray(bot_zip())
    for signature, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        at = data.rfind(signature) + offset
        data[at : at + 2] = (0x2 | 0x4 | 0x800).to_bytes(2, "little")  # Bits for the compression level, and UTF-8

    assert "bot.py" in package.read(bytes(data), "a.zip").files


def test_lying_sizes_are_found_while_unpacking() -> None:
    data = bytearray(bot_zip({"zeros": bytes(9_000_000)}))
    for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = data.rfind(signature)
        data[at + offset : at + offset + 4] = (1000).to_bytes(4, "little")

    refusal(bytes(data))


def test_upload_size_is_limited(tmp_path: Path) -> None:
    full = b"#" * (10 * MIB)
    assert package.read(full, "bot.py").files["bot.py"] == full
    assert "larger than 10 MB, the most that a package may have" in refusal(full + b"#", "bot.py")
    path = tmp_path / "bot.py"
    path.write_bytes(full)
    assert package.read_path(path).files["bot.py"] == full
    path.write_bytes(full + b"##")  # Reading stops as soon as the limit is passed
    with pytest.raises(PackageRefused, match=r"larger than 10 MB"):
        package.read_path(path)


@pytest.mark.parametrize(
    ("data", "filename", "words"),
    [
        (b"", "bot.py", "empty"),
        (b"hello", "bot.zip", "not a zip archive"),
        (b"hello", "bot.exe", "neither a source file"),
        (b"hello", "bot.tar", "neither a source file"),
        (b"\x7fELF", "bot", "zip with it and a bot.toml"),
        (b"PK\x03\x04" + bytes(100), "bot.zip", "no directory"),
        (b"x", "bad\x07.py", "invisible"),
        (b"x", ".py", "neither a source file"),
        (TOML, "bot.toml", "alone is not a bot"),
    ],
)
def test_other_uploads_are_refused(data: bytes, filename: str, words: str) -> None:
    assert words in refusal(data, filename)


def test_truncated_zip_is_refused() -> None:
    data = bot_zip({"noise": bytes(range(256)) * 40})

    for size in range(4, len(data), 7):
        refusal(data[:size])


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        (b"\xff", "not UTF-8"),
        (b"name = ", "not valid TOML"),
        (b"a = " + b"[" * 5000, "not valid TOML"),
        (b"x = 1", "unknown key 'x'"),
        (b'runtime = "python"', "needs name as text"),
        (b'name = 3\nruntime = "python"', "needs name as text"),
        (b'name = "x"\nruntime = "ruby"', "unknown runtime 'ruby'"),
        (b'name = "x"\nruntime = "python"', "needs entry as text"),
        (b'name = "x"\nruntime = "python"\nentry = "no.py"', "is not a file of the package"),
        (b'name = "x"\nruntime = "python"\nentry = "bot.py"\ngames = "all"', "games must be a list"),
        (b'name = "x"\nruntime = "python"\nentry = "bot.py"\ngames = ["mus"]', "unknown game 'mus'; the games are "),
        (b'name = " x"\nruntime = "python"\nentry = "bot.py"', "cannot be displayed"),
        (b'name = "x\\u202E"\nruntime = "python"\nentry = "bot.py"', "cannot be displayed"),
        (b'name = "x"\nruntime = "binary"\nentry = "bot.py"', "is not an ELF executable"),
        (b'name = "x"\nruntime = "wasm"\nentry = "bot.py"', "is no module of WebAssembly"),
        (
            b'name = "x"\nruntime = "wasm"\nbuild = "c"\nentry = "bot.py"',
            "leave out runtime; what is built has the runtime binary",
        ),
        (b'name = "x"\nruntime = "binary"\nbuild = "c-wasm"\nentry = "bot.py"', "what is built has the runtime wasm"),
        (
            b'name = "x"\nbuild = "go-wasm"\nentry = "bot.py"',
            "unknown build 'go-wasm'; write one of c, c++, rust, go, java, c#, typescript, cython, pybind11, mypyc, c-wasm, rust-wasm",
        ),
        (TOML.ljust(16 * 1024 + 1), "has 16385 bytes; keep it under 16384"),
        (TOML.replace(b"My bot", b"x" * 61), "cannot be displayed"),
    ],
)
def test_manifests_are_checked(toml: bytes, words: str) -> None:
    assert words in refusal(zipped({"bot.toml": toml, "bot.py": b"1"}))


@pytest.mark.parametrize("toml", [TOML.ljust(16 * 1024), TOML.replace(b"My bot", b"x" * 60)], ids=["bytes", "name"])
def test_manifests_are_taken_up_to_the_limit(toml: bytes) -> None:
    assert package.read(zipped({"bot.toml": toml, "bot.py": b"1"}), "a.zip").files["bot.toml"] == toml


def test_a_module_is_deterministic_and_has_a_limit_of_its_own() -> None:
    toml = b'name = "x"\nruntime = "wasm"\nentry = "bot.wasm"\ndeterministic = false\n'
    module = package.WASM_MAGIC.ljust(package.MAX_MODULE, b"\0")

    read = package.read(
        zipped({"bot.toml": toml, "bot.wasm": module, "noise": random.Random(1).randbytes(1 << 17)}), "a.zip"
    )

    assert (read.manifest.deterministic, read.is_program) == (True, False)
    assert "larger than 1 MB" in refusal(
        zipped({"bot.toml": toml, "bot.wasm": module + b"\0", "noise": random.Random(1).randbytes(1 << 17)})
    )


def test_games_of_a_package_stand_in_its_manifest_alone() -> None:
    with pytest.raises(PackageRefused, match="declares its games there"):
        package.read(bot_zip(), "bot.zip", ["partnership"])


def test_zip_without_manifest_is_refused() -> None:
    assert "no bot.toml" in refusal(zipped({"bot.py": b"1"}))


def test_dynamic_executable_is_refused() -> None:
    toml = b'name = "x"\nruntime = "binary"\nentry = "bot"\n'
    data = (
        Path(sys.executable).read_bytes()
        if Path(sys.executable).stat().st_size < 9_000_000
        else Path("/bin/sh").read_bytes()
    )

    assert "dynamic loader" in refusal(zipped({"bot.toml": toml, "bot": data}))


@pytest.mark.parametrize("make", ["symlink", "fifo"])
def test_folder_with_a_link_or_pipe_is_refused(tmp_path: Path, make: str) -> None:
    import os

    (tmp_path / "bot.toml").write_bytes(TOML)
    (tmp_path / "bot.py").write_bytes(b"1")
    if make == "symlink":
        (tmp_path / "x").symlink_to("/etc/passwd")
    else:
        os.mkfifo(tmp_path / "x")

    with pytest.raises(PackageRefused, match="is a link" if make == "symlink" else "is a device or pipe"):
        package.read_path(tmp_path)


def test_folder_may_link_to_a_file_of_a_package_beside_it(tmp_path: Path) -> None:
    """It is read as the file itself. Any other link is refused, and the refusal tells the rule."""
    package_folder, other = tmp_path / "mine", tmp_path / "other"
    for folder in (package_folder, other, other / "deep", tmp_path / "plain"):
        folder.mkdir()
    (package_folder / "bot.py").write_bytes(b"import sums")
    (package_folder / "bot.toml").write_bytes(TOML)
    for folder in (other, other / "deep", tmp_path / "plain"):
        (folder / "sums.py").write_bytes(b"2")
    link = package_folder / "sums.py"
    link.symlink_to("../other/sums.py")
    rule = "is a link; only a relative link to a file at the top of a neighbouring package"

    with pytest.raises(PackageRefused, match=rule):  # no package yet
        package.read_path(package_folder)
    (other / "bot.toml").write_bytes(TOML)
    content = package.read_path(package_folder)
    assert content.files["sums.py"] == b"2"
    assert package.read(content.zip(), "mine.zip").files == content.files  # an upload holds the file itself

    others = ("../other/deep/sums.py", "../plain/sums.py", "../other/deep", "../other/none.py", "bot.py")
    for elsewhere in (*others, str(other / "sums.py"), "sums.py"):
        link.unlink()
        link.symlink_to(elsewhere)
        with pytest.raises(PackageRefused, match=rule):
            package.read_path(package_folder)


def test_refusal_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    refusal(bot_zip({"../evil": b"1"}))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "beginning"), [("x" * 79 + ":", "x" * 79 + ":"), ("x" * 80 + ":", "x" * 77 + "...")], ids=["whole", "cut"]
)
def test_a_long_path_is_shown_by_its_beginning(name: str, beginning: str) -> None:
    assert f"the path '{beginning}' has a backslash or a colon" in refusal(bot_zip({name: b""}))


def test_two_names_in_a_folder_that_some_file_system_cannot_tell_apart_are_refused(tmp_path: Path) -> None:
    for name in ("bot.toml", "bot.py", "Data", "data"):
        (tmp_path / name).write_bytes(TOML)
    with pytest.raises(PackageRefused, match="are the same file on some systems"):
        package.read_path(tmp_path)


@pytest.mark.parametrize(
    ("name", "beginning"), [("x" * 80, "x" * 80), ("x" * 81, "x" * 77 + "...")], ids=["whole", "cut"]
)
def test_a_long_text_is_shown_by_its_beginning(name: str, beginning: str) -> None:
    with pytest.raises(PackageRefused) as caught:
        package.read(b"print(1)", name)
    assert str(caught.value).startswith(f"'{beginning}' is neither a source file")


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (b"\x7fELF", "left no modules"),
        (b"[1]", "left no modules"),
        (b"[" * 100_000, "left no modules"),
        (b"{}", "left no bot.mjs"),
        (b'{"bot.mjs": 1}', "left no modules"),
        (b'{"bot.mjs": "no Base64!"}', "left no modules"),
        (b'{"bot.mjs": "", "tute.mjs": ""}', "would replace 'tute.mjs'"),
        (b'{"bot.mjs": "", "../x.mjs": ""}', "../x.mjs"),
        (b'{"bot.mjs": "", "x\\u0000.mjs": ""}', "x"),
    ],
)
def test_modules_of_a_build_are_checked_like_an_upload(result: bytes, says: str) -> None:
    toml = b'name = "x"\nbuild = "typescript"\nentry = "bot.mts"\n'
    source = package.read(zipped({"bot.toml": toml, "bot.mts": b"", "tute.mjs": b""}), "bot.zip")

    assert source.manifest.runtime == "node"
    with pytest.raises(PackageRefused, match=re.escape(says)):
        source.with_result(result)
    built = source.with_result(b'{"bot.mjs": "MQ==", "part/x.mjs": "Mg=="}')
    assert (built.manifest.entry, built.manifest.build, built.files["part/x.mjs"]) == ("bot.mjs", "", b"2")


PARTS = {
    "fast.cpython-311-x86_64-linux-gnu.so": "python-numpy 3.11",
    "part/fast.cpython-313-x86_64-linux-gnu.so": "python-numpy 3.13",
    "fast.abi3.so": "python-numpy",
    "fast.cpython-3111-x86_64-linux-gnu.so": "python-numpy",
    f"fast.cpython-3{'1' * 20}-x.cpython-311-x86_64-linux-gnu.so": "python-numpy 3.11",
    "cpython-311-x.so/fast.txt": "python-numpy",
}


@pytest.mark.parametrize(("name", "runtime"), PARTS.items())
def test_a_package_with_compiled_parts_says_for_which_python(name: str, runtime: str) -> None:
    toml = b'name = "x"\nbuild = "cython"\nruntime = "python-numpy"\nentry = "bot.py"\n'
    source = package.read(zipped({"bot.toml": toml, "bot.py": b"", "fast.pyx": b""}), "bot.zip")

    assert source.runtime == "python-numpy"
    built = source.with_result(json.dumps({name: "MQ=="}).encode())
    assert (built.runtime, built.manifest.entry, built.manifest.build) == (runtime, "bot.py", "")
    other = {"old.cpython-39-x86_64-linux-gnu.so": "MQ==", name: "MQ=="}
    assert source.with_result(json.dumps(other).encode()).runtime == (
        "python-numpy" if built.series else "python-numpy 3.9"
    )
    with pytest.raises(PackageRefused, match=r"left no bot\.py"):
        source.with_result(b"{}")
    node = zipped({"bot.toml": b'name = "x"\nruntime = "node"\nentry = "bot.mjs"\n', "bot.mjs": b"", name: b""})
    assert package.read(node, "bot.zip").runtime == "node"

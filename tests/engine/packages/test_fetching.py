"""A bot from a tag of a Git repository: by Git's own server, and by servers and repositories that mean harm."""

from __future__ import annotations

import io
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from engine.packages import archive, fetching, git_http
from engine.packages.addresses import is_public
from engine.packages.manifest import PackageRefused
from tests.engine.sandbox.support import StateDirectory
from tests.support import forge as forges
from tests.support.forge import BOT, Forge

FILES = {"bots/rufo/bot.toml": BOT, "bots/rufo/bot.py": "print(1)\n", "README.md": "words\n"}


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with forges.forge() as server:
        yield server


@pytest.fixture(scope="module")
def state() -> Iterator[Path]:
    with StateDirectory() as directory:
        yield directory.path


def fetch(forge: Forge, state: Path, name: str, tag: str = "v1", folder: str = "", **more) -> fetching.Fetched:
    end = fetching.fetch(forge.url(name), tag, folder, state, **({"private": True} | more))
    assert end is not None
    return end


def test_the_folder_of_a_tag_arrives_with_its_commit(forge: Forge, state: Path) -> None:
    first = forge.push("rufo", FILES, "v1")
    second = forge.push("rufo", {"bots/rufo/bot.py": "print(2)\n"}, "v2", annotated=True)
    for tag, commit, text in (("v1", first, b"print(1)\n"), ("v2", second, b"print(2)\n")):
        end = fetch(forge, state, "rufo", tag, "bots/rufo")
        assert (end.commit, end.why) == (commit, "")
        assert archive.read(end.data, "bot.zip").files["bot.py"] == text


def _submodule(forge: Forge) -> None:
    forge.push("rufo-2", FILES, "v1")
    forge.push("sub", FILES, "v0")
    forge.git("submodule", "--quiet", "add", str(forge.folder / "rufo-2"), "bots/rufo/more", at=forge.folder / "sub")
    forge.push("sub", {}, "v1")


def _tree(forge: Forge) -> None:
    forge.push("tree", FILES, "v0")
    forge.git("tag", "v1", "HEAD^{tree}", at=forge.folder / "tree")


def _large(forge: Forge) -> None:
    forge.push("large", {"noise": random.Random(1).randbytes(200_000).hex()}, "v1")


def _zeros(forge: Forge) -> None:
    forge.push("zeros", {"bot.toml": BOT, "zeros": "0" * 30_000_000}, "v1")


def _nested(forge: Forge) -> None:
    """Ten names of one tree of ten names of one tree ...: a billion files in ten objects."""
    forge.push("nested", FILES, "v0")
    work = forge.folder / "nested"
    kind, entry = "blob", forge.git("rev-parse", "HEAD:README.md", at=work)
    for _ in range(9):
        mode = "100644" if kind == "blob" else "040000"
        (work / "list").write_text("".join(f"{mode} {kind} {entry}\tn{number}\n" for number in range(10)))
        with (work / "list").open() as lines:
            entry = subprocess.run(
                ["git", "mktree"], cwd=work, stdin=lines, check=True, capture_output=True, text=True
            ).stdout.strip()
        kind = "tree"
    commit = forge.git("commit-tree", entry, "-m", "nested", at=work)
    forge.git("tag", "v1", commit, at=work)


REFUSED = {
    "no tag": (lambda forge: forge.push("none", FILES, "v1"), "none", {"tag": "v2"}, "has no tag v2"),
    "no folder": (lambda forge: forge.push("plain", FILES, "v1"), "plain", {"folder": "bots/x"}, "has no folder bots/x"),
    "a file": (lambda forge: forge.push("file", FILES, "v1"), "file", {"folder": "README.md"}, "has no folder README.md"),
    "no repository": (lambda forge: None, "nowhere", {}, "no public repository"),
    "a private address": (lambda forge: None, "nowhere", {"private": False}, "not on the public Internet"),
    "a submodule": (_submodule, "sub", {}, "has a submodule"),
    "a tag of a tree": (_tree, "tree", {}, "does not name a commit"),
    "a large repository": (_large, "large", {"most_bytes": 100_000}, "too large"),
    "a large folder": (_zeros, "zeros", {}, ""),
    "a billion files": (_nested, "nested", {}, "has more than 5000 files"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_why(forge: Forge, state: Path, name: str) -> None:
    prepare, repository, how, why = REFUSED[name]
    prepare(forge)
    end = fetch(forge, state, repository, **how)
    if why:
        assert why in end.why
        assert not end.data
    else:
        with pytest.raises(PackageRefused, match=r"more than 10 MB|100 times"):
            archive.read(end.data, "bot.zip")


def test_a_hostile_repository_runs_nothing(forge: Forge, state: Path) -> None:
    """Attributes name filters, hooks lie in the tree, links lead out: the bytes arrive as they are, or the upload is refused."""
    attributes = "* filter=evil diff=evil merge=evil text ident\n"
    files = {
        ".gitattributes": attributes,
        ".gitmodules": '[submodule "x"]\n\turl = -upayload\n\tpath = x\n',
        "hooks/post-checkout": "exit 1",
    }
    forge.push("evil", {"bot.toml": BOT, "bot.py": "print(1)\n", ".lfsconfig": "[lfs]\nurl = https://x", **files}, "v1")
    read = archive.read(fetch(forge, state, "evil").data, "bot.zip")
    assert read.files["bot.py"] == b"print(1)\n"
    forge.push("evil", {}, "v2", links={"passwd": "/etc/passwd"})
    with pytest.raises(PackageRefused, match="is a link"):
        archive.read(fetch(forge, state, "evil", "v2").data, "bot.zip")


def _redirect(target: str):
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(301)
        request.send_header("Location", target)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def _drip(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Type", "application/x-git-upload-pack-advertisement")
    request.end_headers()
    for _ in range(200):
        request.wfile.write(b"0")
        time.sleep(0.1)


def test_servers_that_mean_harm(forge: Forge, state: Path) -> None:
    forge.push("moved", FILES, "v1")
    forge.answers |= {
        "/here.git/": _redirect(f"https://{forge.site}/moved.git/info/refs?service=git-upload-pack"),
        "/there.git/": _redirect("https://169.254.169.254/latest/info/refs?service=git-upload-pack"),
        "/plain.git/": _redirect(f"http://{forge.site}/moved.git/info/refs?service=git-upload-pack"),
        "/round.git/": _redirect(f"https://{forge.site}/round.git/info/refs?service=git-upload-pack"),
        "/slow.git/": _drip,
    }
    assert fetch(forge, state, "here").commit
    for name, why in (("there", "another address"), ("plain", "another address"), ("round", "again and again")):
        assert why in fetch(forge, state, name).why
    assert fetch(forge, state, "slow", wall_s=1.0).why == "the server took longer than 1 s"
    assert fetching.fetch(forge.url("slow"), "v1", "", state, private=True, stop=lambda: True) is None


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *[(address, False) for address in (
            "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
            "::1", "::", "fe80::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1",
            "2002:7f00:1::", "2001:0:1::",
        )],
        ("140.82.121.4", True), ("2a00:1450:4001:81b::200e", True),
    ],
)  # fmt: skip
def test_only_public_addresses_are_reached(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_addresses_and_tags_are_plain() -> None:
    for url in ("https://github.com/ana/rufo", "https://GIT.example.org:8443/a/b.git"):
        assert git_http.parse(url).url == url.lower()
    for url in (
        "http://github.com/a/b", "ssh://git@github.com/a/b", "git@github.com:a/b", "file:///etc", "ext::sh -c id", "https://u:p@github.com/a",
        "https://github.com", "https://github.com/a?b", "https://github.com/a#b", "https://github.com/../b", "https://github.com:99999/a",
        "https://github.com/a\nHost: x", "https://[::1]/a", "https://github.com/a b",
        "https://a..b/c", "https://.a/b", f"https://{'a' * 64}.org/b", f"https://{'a.' * 127}b/c", "--upload-pack=id", "https://github.com/a\0",
    ):  # fmt: skip
        with pytest.raises(ValueError, match="https://host"):
            git_http.parse(url)
    assert all(map(git_http.is_tag, ("v1", "v1.2.3", "rufo/v1", "release-2+x")))
    assert not any(
        map(
            git_http.is_tag,
            ("", "-v1", "v..1", "v1/", "v1.lock", "a//b", "v 1", "v1\n", "v1:x", "v1^{}", "ñ", "a" * 101, ".a", "a/.b"),
        )
    )


def test_empty_packets_are_counted() -> None:
    server = git_http._GitServer(git_http.parse("https://github.com/a/b"), HTTPSConnection("github.com"), 1 << 20)
    with pytest.raises(git_http.GitRefused, match="too large"):
        list(server._lines(io.BytesIO(b"0000" * (1 << 15)), server.rest))  # type: ignore[arg-type]


def test_the_reader_opens_no_file_after_the_first_byte() -> None:
    program = "from engine.sandbox.kernel import landlock; print(landlock.forbid_files()); open('/etc/hostname')"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stdout == "True\n"
    assert "PermissionError" in result.stderr
    with socket.create_server(("127.0.0.1", 0)) as server:
        program = "from engine.sandbox.kernel import landlock; import socket, encodings.idna; landlock.forbid_files(); "
        program += f"socket.create_connection({server.getsockname()})"
        assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0

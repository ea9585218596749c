"""The wheel and the sdist: they hold what git holds, and an installed wheel does what a clone does, with no source in reach."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

import pytest

from engine.version import VERSION
from tests.support import migrated
from tests.support.compose import TOP
from tests.support.processes import Process, free_port

pytestmark = pytest.mark.timeout(1800)

CODE = ("bots", "engine", "league")
TOOLBOX = {"tute-league", "rich", "pyyaml", "markdown-it-py", "mdurl", "pygments"}  # rich brings the last three
# Files of an author's folder with names of modules that the league imports: none of them may be taken for the module.
TRAPS = (
    "random.py",
    "json.py",
    "celery.py",
    "league.py",
    "bots.py",
    "engine.py",
    "manage.py",
    "gunicorn.py",
    "enum.py",
)
RUFO = """\
from tute_bot import Bot, run


class Rufo(Bot):
    def act(self, view, legal):
        return legal[0]


run(Rufo())
"""
LEARN = """\
import engine.adapters.openspiel
import pyspiel
from pettingzoo.test import api_test

from engine.adapters.pettingzoo import env
from engine.adapters.vector import Matches, TuteVectorEnv

api_test(env("partnership"), num_cycles=60)
table = Matches("partnership", 8, seed=7)
for _ in range(50):
    table.step(table.sample())
assert table.arrays.masks.any()
TuteVectorEnv("partnership", 2).reset(seed=1)
print(pyspiel.load_game("python_tute_partnership").num_players())
"""


# ---- contents


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """Return the files that git tracks or would track: a new file counts before it is committed, an ignored one does not."""
    words = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=True).stdout
    return {name for name in output.split("\0") if name and os.path.lexists(TOP / name)}


@pytest.fixture(scope="module")
def source(tracked: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the tracked files: builds leave folders behind, and must not find those of earlier builds. Add files that git ignores."""
    folder = tmp_path_factory.mktemp("source") / "tute-league"
    for name in tracked:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, folder / name, follow_symlinks=False)
    for name in (
        "engine/_compiled/x/build.json",
        "docker/secrets/key",
        "docker/league.env",
        "engine/__pycache__/a.pyc",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("secret")
    (folder / "engine" / "old.cpython-311-x86_64-linux-gnu.so").write_text("compiled once")
    return folder


def in_wheel(tracked: set[str]) -> set[str]:
    """Return the files of the wheel: the code with all its data, and the documents, which the site shows, inside the package `league`."""
    documents = {f"league/{name}" for name in tracked if name.startswith("docs/")}
    return {name for name in tracked if name.partition("/")[0] in CODE} | documents


def packed(wheel: Path) -> dict[str, tuple[int, int]]:
    """Return the files of a wheel but its metadata, with size and check sum."""
    return {
        entry.filename: (entry.file_size, entry.CRC)
        for entry in ZipFile(wheel).infolist()
        if ".dist-info/" not in entry.filename
    }


def metadata(wheel: Path) -> str:
    return ZipFile(wheel).read(f"tute_league-{VERSION}.dist-info/METADATA").decode()


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel straight from a clone."""
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    process = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "absent from the `packages`" not in process.stdout + process.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_code_with_its_data_and_nothing_else(wheel: Path, tracked: set[str]) -> None:
    assert wheel.name == f"tute_league-{VERSION}-py3-none-any.whl"
    packed_files, expected = set(packed(wheel)), in_wheel(tracked)
    assert sorted(expected - packed_files) == [], "missing"
    assert sorted(packed_files - expected) == [], "too much"
    some = {"bots/sdk/template/bot.toml", "league/docs/first-bot.md", "league/docs/event.schema.json"}
    assert some | {"league/locale/es/LC_MESSAGES/django.mo", "engine/rulebook/prose/cabrero.es.md"} <= packed_files


def test_links_of_house_bots_are_files_in_the_wheel(wheel: Path) -> None:
    links = [path for path in (TOP / "bots" / "house").rglob("*") if path.is_symlink()]
    assert links
    for path in links:
        assert ZipFile(wheel).read(path.relative_to(TOP).as_posix()) == path.read_bytes()


def test_the_toolbox_asks_for_no_django(wheel: Path) -> None:
    lines = metadata(wheel).splitlines()
    plain = [line.split()[1] for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    assert sorted(plain) == ["pyyaml", "rich"]
    extras = {line.split()[1] for line in lines if line.startswith("Provides-Extra: ")}
    assert extras == {"league", "postgres", "compiled", "learn", "data", "certificates", "wasm", "test", "release"}
    assert f"Version: {VERSION}" in lines


# ---- built as for a release


def run(words: list[object], folder: Path, environment: Mapping[str, str] | None = None, code: int = 0) -> str:
    """Run a program that must exit with `code`. Return its output, or its errors if it must fail."""
    process = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=None if environment is None else dict(environment),
        capture_output=True,
        text=True,
        timeout=900,
        stdin=subprocess.DEVNULL,
    )
    assert process.returncode == code, f"{words}\n{process.stdout[-4000:]}\n{process.stderr[-4000:]}"
    return process.stderr if code else process.stdout


def plain(**more: str) -> dict[str, str]:
    """Return the environment of a stranger: nothing leads to this clone, nothing configures a league."""
    inherited = (
        "HOME",
        "LANG",
        "TMPDIR",
        "PIP_INDEX_URL",
        "PIP_CONFIG_FILE",
        "PIP_FIND_LINKS",
        "PIP_NO_INDEX",
        "PIP_CACHE_DIR",
    )
    words = {name: os.environ[name] for name in inherited if name in os.environ}
    return {**words, "PATH": "/usr/local/bin:/usr/bin:/bin", "PYTHONUNBUFFERED": "1", "LADDERS": "0", **more}


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Yield a folder away from the clone that the bots' own users may pass."""
    folder = Path(tempfile.mkdtemp(prefix="tute-wheel-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def environment(place: Path, name: str, *packages: object) -> Path:
    """Create a virtual environment with these packages, in the versions of the lock; return the folder of its programs."""
    constraints = place / "constraints.txt"
    lines = (TOP / "requirements-dev.lock").read_text(encoding="utf-8").splitlines()
    constraints.write_text("\n".join(line.removesuffix("\\") for line in lines if re.match(r"\w.*==", line)))
    return installed(place / name, "--constraint", constraints, *packages)


def installed(folder: Path, *words: object) -> Path:
    """Create a virtual environment, let this interpreter's pip install into it, and return the folder of its programs."""
    run([sys.executable, "-m", "venv", "--without-pip", folder], folder.parent, plain())
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--no-compile"]
    run([*pip, "--disable-pip-version-check", "--no-input", "--quiet", *words], folder.parent, plain())
    return folder / "bin"


@pytest.fixture(scope="module")
def released(source: Path, place: Path) -> tuple[Path, Path, Path]:
    """Return the programs that make a release, and what `python -m build` makes with them: the sdist, and a wheel from it."""
    tools = installed(place / "tools", "--no-deps", "--require-hashes", "-r", TOP / "requirements-release.lock")
    # Without isolation: with the build backend of the lock
    run([tools / "python", "-m", "build", "--no-isolation", "--outdir", place / "dist"], source, plain())
    names = sorted(path.name for path in (place / "dist").iterdir())
    assert names == [f"tute_league-{VERSION}-py3-none-any.whl", f"tute_league-{VERSION}.tar.gz"]
    return tools, place / "dist" / names[1], place / "dist" / names[0]


@pytest.mark.slow
def test_the_sdist_holds_what_git_holds_and_builds_the_same_wheel(
    released: tuple[Path, Path, Path], wheel: Path, tracked: set[str]
) -> None:
    _, sdist, from_sdist = released
    with tarfile.open(sdist) as archive:
        packed_files = {
            str(PurePosixPath(*PurePosixPath(member.name).parts[1:])) for member in archive if not member.isdir()
        }
    written = {
        name for name in packed_files if name in ("PKG-INFO", "setup.cfg") or name.startswith("tute_league.egg-info/")
    }
    assert sorted(tracked - packed_files) == [], "missing"
    assert sorted(packed_files - tracked - written) == [], "too much"
    assert packed(from_sdist) == packed(wheel)
    assert metadata(from_sdist) == metadata(wheel)


@pytest.mark.slow
def test_the_checkers_of_packages_find_nothing(released: tuple[Path, Path, Path], source: Path) -> None:
    tools, sdist, built = released
    assert f"{built}: OK" in run([tools / "check-wheel-contents", built], source, plain())
    output = run([tools / "twine", "check", "--strict", sdist, built], source, plain())
    assert output.count("PASSED") == 2, output


# ---- installed


@pytest.fixture(scope="module")
def toolbox(released: tuple[Path, Path, Path], place: Path) -> Path:
    """`pip install tute-league`."""
    return environment(place, "toolbox", released[2])


@pytest.fixture
def desk(place: Path) -> Path:
    """Return an author's folder, with files that must not be taken for modules."""
    folder = Path(tempfile.mkdtemp(prefix="desk-", dir=place))
    folder.chmod(0o755)
    for name in TRAPS:
        (folder / name).write_text("raise SystemExit('a file of the folder passed for a module')\n")
    (folder / "rufo.py").write_text(RUFO)
    return folder


def at_home(place: Path, desk: Path, **more: str) -> dict[str, str]:
    return plain(STATE_DIR=str(place / "cache"), XDG_CONFIG_HOME=str(desk / "config"), **more)


@pytest.mark.slow
def test_the_toolbox_brings_no_django_and_names_the_extra_of_the_league(toolbox: Path, desk: Path) -> None:
    (packages,) = toolbox.parent.glob("lib/python3*/site-packages")
    assert {package.name.lower() for package in distributions(path=[str(packages)])} == TOOLBOX
    assert run([toolbox / "tute", "--version"], desk, plain()) == f"tute {VERSION}, rules: Python source\n"
    assert "pip install 'tute-league[league]'" in run([toolbox / "tute", "serve"], desk, plain(), code=3)
    assert "pip install 'tute-league[league]'" in run([toolbox / "tute-manage", "check"], desk, plain(), code=1)


@pytest.mark.slow
def test_the_toolbox_plays_checks_and_explains(toolbox: Path, place: Path, desk: Path) -> None:
    def tute(words: str) -> str:
        return run([toolbox / "tute", *words.split()], desk, at_home(place, desk))

    assert "partnership" in tute("games")
    report = json.loads(tute("play greedy random -g partnership -n 2 --seed 1 --log games.jsonl --json"))
    assert [party["faults"] for party in report["parties"]] == [[], []]
    for rival in ("greedy", "deep"):
        report = json.loads(tute(f"play rufo.py {rival} -g partnership -n 1 --seed 1 --json"))
        assert [party["faults"] for party in report["parties"]] == [[], []], rival
    assert "4 of 4 replays are valid" in tute("verify games.jsonl")
    assert "decisions" in tute("analyse games.jsonl --board 1")
    assert (TOP / "docs" / "games.md").read_text(encoding="utf-8") == tute("rules")
    tute("rules --write pages")
    assert (desk / "pages" / "cabrero.md").read_text(encoding="utf-8") == tute("rules cabrero")
    shutil.copy(TOP / "tests" / "cases" / "cabrero.yaml", desk)
    assert re.search(r"(\d+) of \1 cases pass", tute("cases cabrero.yaml"))
    tute("bot new my_bot")
    assert "the bot may be entered" in tute("bot check my_bot -g partnership")


@pytest.fixture(scope="module")
def league(released: tuple[Path, Path, Path], place: Path) -> Path:
    """`pip install 'tute-league[league]'`."""
    return environment(place, "league", f"{released[2]}[league]")


def page(port: int, path: str) -> str | None:
    """Return a page without what differs between two requests; None while nobody answers. Raise HTTPError if it is refused."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError:
        raise
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None
    # Each league signs the addresses of its pictures with a key of its own.
    text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"|data-(now|begins)="\d+"|:[\w-]+\.png', "", text)
    return text.replace(f":{port}", "")


@pytest.mark.slow
def test_a_league_serves_and_takes_the_first_bot(league: Path, toolbox: Path, place: Path, desk: Path) -> None:
    """`tute serve` shows the pages that `make serve` shows, and docs/first-bot.md leads from `tute bot new my_bot` to "accepted"."""
    port, state = free_port(), place / "my league"
    words = [str(league / "tute"), "serve", "--bind", f"127.0.0.1:{port}", "--slots", "1", "--state", "../my league"]
    serving = Process("tute serve", words, place / "serve.log", env=plain(), cwd=desk)
    other_port, other = free_port(), place / "clone"
    other.mkdir()
    shutil.copyfile(migrated.sqlite_file(), other / "league.sqlite3")
    words = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{other_port}", "--slots", "0"]
    clone = Process("make serve", words, place / "clone.log", env=plain(STATE_DIR=str(other)), cwd=TOP)
    try:
        for path in (
            "/",
            "/docs/",
            "/docs/first-bot/",
            "/docs/adr/0002-landlock-by-default/",
            "/g/",
            "/g/cabrero/",
            "/puzzles/",
            "/api/v1/schema",
        ):
            installed_page = serving.wait_until(lambda path=path: page(port, path), path)  # type: ignore[misc]
            expected = clone.wait_until(lambda path=path: page(other_port, path), path)  # type: ignore[misc]
            if path.startswith("/docs/"):  # Only a clone has the files outside docs/ that a document links to
                installed_page, expected = (re.sub("<a [^>]*>|</a>", "", text) for text in (installed_page, expected))
            assert installed_page == expected, path
        version = json.loads(page(port, "/version") or "")
        assert (version["engine"], version["commit"]) == (VERSION, None)
        serving.wait_until(lambda: "Ctrl-C stops it" in serving.tail(1000), "the address")
        assert f"| Tute League on http://127.0.0.1:{port}" in serving.tail(1000)
        assert f"| its data in {state}" in serving.tail(1000)
        assert (state / "league.sqlite3").exists()

        operator = plain(STATE_DIR=str(state))
        run([league / "tute-manage", "create_player", "ana", "--no-password"], desk, operator)
        token = run([league / "tute-manage", "create_token", "ana"], desk, operator).strip().splitlines()[-1]
        author = at_home(place, desk, TUTE_TOKEN=token, TUTE_LEAGUE=f"http://127.0.0.1:{port}")
        run([toolbox / "tute", "bot", "new", "my_bot"], desk, author)
        told_of = run([toolbox / "tute", "submit", "my_bot"], desk, author)
        assert "my-bot version 1: accepted" in told_of, told_of + serving.tail()
        assert "my-bot of ana, active" in run([toolbox / "tute", "status", "my_bot"], desk, author)
        assert clone.stop(seconds=120) == 0, clone.tail()
        assert serving.stop(signal.SIGINT, 120) == 0, serving.tail()
    finally:
        clone.stop()
        serving.stop()


@pytest.mark.slow
def test_a_league_without_the_driver_of_postgresql_names_its_extra(league: Path, place: Path, desk: Path) -> None:
    environment_of_league = plain(
        STATE_DIR=str(place / "none"), DATABASE_URL="postgresql://nobody@127.0.0.1:9/none", SECRET_KEY="test"
    )
    assert "pip install 'tute-league[postgres]'" in run(
        [league / "tute-manage", "migrate"], desk, environment_of_league, code=1
    )


@pytest.mark.slow
def test_the_other_extras_bring_what_they_are_named_for(
    released: tuple[Path, Path, Path], place: Path, desk: Path
) -> None:
    folder = environment(place, "more", f"{released[2]}[compiled,learn,postgres]")
    (desk / "empty").mkdir()
    code = "import psycopg.pq, mypyc.build, setuptools, engine.compiling; print(psycopg.pq.__impl__)"
    assert run([folder / "python", "-c", code], desk / "empty", plain()) == "binary\n"
    assert run([folder / "python", "-c", LEARN], desk / "empty", plain()).splitlines()[-1] == "4"

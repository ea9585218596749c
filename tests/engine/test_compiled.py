"""The rules compiled by mypyc play the same matches as their source, and every program finds them, from any folder."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest

from engine import compiled, compiling
from tests.support import languages, migrated
from tests.support.processes import Process, free_port, wait_for

ROOT = Path(__file__).parents[2]
PLAY = """
import hashlib, json, random, sys
sys.path.insert(0, sys.argv[1])
import engine
from engine.search.batch import Batch
from engine.search.foresight import Foresight, knows
from engine.search.knowledge import Knowledge
from engine.search.solving import NotTwoSidedError, judge, max_n
sums = {"compiled": engine.COMPILED}


def search(game, seed, digest):
    # deals, states, solved endings and cards tried out, from what the seat on turn is told
    state, draw = game.new_match(seed=seed, deals=1), random.Random(seed)
    table = Foresight(game) if knows(game) else None
    while not state.is_over:
        legal, seat = state.legal_actions(), state.current_seat
        ending = state.left <= 2 * state.size and state.phase is None
        if len(legal) > 1 and (ending or draw.random() < 0.15):
            known = Knowledge(game, seat)
            known.follow(engine.redact(state.events, seat))
            known.asked([game.action_text(action) for action in legal])
            for number in range(3):
                deal = known.deals().deal(engine.Dice(number))
                digest.update(repr((deal, known.state(deal).legal_actions())).encode())
            if table is not None and state.phase is None:
                table.begin(known.state(deal), 1 + seed, 2)
                table.put(deal)
                digest.update(repr([table.worth(card) for card in legal if card < 52]).encode())
            if ending:
                try:
                    found = [(action, one.low, one.high) for action, one in judge(state, 10**6).items()]
                except NotTwoSidedError:
                    found = max_n(state, 20_000)
                digest.update(repr(found).encode())
        state.apply(draw.choice(legal))


for key in engine.games():
    digest = hashlib.sha256()
    for seed in range(4):
        game = engine.load(key)
        state = game.new_match(seed=seed, deals=2, record=seed % 2 == 0)
        draw = random.Random(seed)
        while not state.is_over:
            legal = state.legal_actions()
            action = draw.choice(legal)
            digest.update(f"{legal}{action}{state.current_seat}".encode())
            state.apply(action)
        digest.update(json.dumps([state.scores(), state.events if seed % 2 == 0 else None]).encode())
        state = game.new_match(seed=seed, deals=2, record=False)
        for quick in (False, True):
            sums_of = [engine.playout(state, number, quick=quick) for number in range(10)]
            sums_of.append(engine.play_many(game, 5, seed, deals=2, quick=quick))
            digest.update(repr(sums_of).encode())
        if seed < 2:
            search(game, seed, digest)
        try:
            state.apply(0)
        except engine.IllegalAction as refused:
            digest.update(str(refused).encode())
    batch = Batch(game, 3, deals=2, seed=5)
    for number in range(250):
        actions = batch.random()
        batch.step([0 if number % 50 == 49 else action for action in actions])
        for block in (batch.observations, batch.masks, batch.turns, batch.ended, batch.forfeited, batch.scores):
            digest.update(memoryview(block))
    sums[key] = digest.hexdigest()
    if engine.COMPILED:  # thousands of matches by both ways: as Python source that would take minutes
        for seed in range(300):
            assert engine.play_many(game, 1, seed, deals=1, quick=True) == engine.play_many(game, 1, seed, deals=1, quick=False)
print(json.dumps(sums))
"""


def play(folder: Path) -> dict[str, object]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.run(
        [sys.executable, "-c", PLAY, str(folder)], capture_output=True, text=True, check=True, env=env, cwd=folder
    )
    sums: dict[str, object] = json.loads(process.stdout)
    return sums


PROJECT = ("engine", "league", "bots", "docs", "manage.py", "pyproject.toml", "setup.py", "README.md", "LICENSE")


def copy_of(target: Path, *names: str) -> Path:
    """Copy parts of the project, nothing compiled among them."""
    ignored = shutil.ignore_patterns("_compiled", "*.so", "*.egg-info", "img")
    target.mkdir()
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def project() -> Iterator[Path]:
    """Create a project of its own with compiled rules, where every user may look: bots are other users where the tests run as root.

    It does not lie below pytest's folder, which every other run of pytest on the machine closes to other users.
    """
    languages.find("cc")
    languages.find_headers()
    with tempfile.TemporaryDirectory(prefix="tute-fast-") as place:
        Path(place).chmod(0o755)
        folder = copy_of(Path(place) / "project", *PROJECT)
        shutil.copytree(compiled_once() / "engine" / "_compiled", folder / "engine" / "_compiled")
        yield folder


def compiled_once() -> Path:
    """Compile the rules into var/test, unless what is there was compiled from the same source in the same way."""
    way = hashlib.sha256(f"{Path(compiling.__file__).read_text()} {version('mypy')}".encode()).hexdigest()[:20]
    place = ROOT / "var" / "test" / "compiled" / way
    record = compiled.folder(place / "engine") / compiled.RECORD
    source = compiled.digest(ROOT / "engine", compiling.MODULES)
    if not record.is_file() or json.loads(record.read_text())["source"] != source:
        record.parents[1].mkdir(parents=True, exist_ok=True)
        compiling.build(place, opt_level="0")  # it plays the same, and compiles sooner
    return place


@pytest.fixture(scope="module")
def installed(project: Path) -> Path:
    """Return the folder of the programs of a virtual environment into which that project was installed as `make` does it."""
    environment = project.parent / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    library = next(environment.glob("lib/python3*/site-packages"))
    import django

    # the packages of this environment, but not what its own editable installation adds to the path
    (library / "others.pth").write_text(f"{Path(django.__file__).parent.parent}\n")
    words = ["--disable-pip-version-check", "--no-input", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--no-index", "--editable", str(project)]
    process = subprocess.run(
        [sys.executable, "-m", "pip", "--python", environment / "bin" / "python", "install", *words, *options],
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return environment / "bin"


@pytest.mark.slow
@pytest.mark.timeout(1200)  # the compiler takes a minute of a free core
def test_compiled_and_pure_rules_play_the_same_matches(project: Path, tmp_path: Path) -> None:
    pure, fast = play(copy_of(tmp_path / "pure", "engine")), play(project)

    assert pure.pop("compiled") is False
    assert fast.pop("compiled") is True
    assert fast == pure


def plain_environment(**more: str) -> dict[str, str]:
    """Return this environment without what leads Python to this project."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DATABASE_URL")}
    return inherited | {"SANDBOX_TIER": "auto", "PYTHONUNBUFFERED": "1"} | more


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_command_finds_the_compiled_rules_from_any_folder(installed: Path, tmp_path: Path) -> None:
    for words in ([installed / "tute"], [installed / "python", "-m", "engine.cli"]):
        process = subprocess.run(
            [*words, "--version"], cwd=tmp_path, capture_output=True, text=True, env=plain_environment()
        )
        assert (process.stdout.rpartition(", ")[2], process.stderr) == ("rules: compiled\n", "")


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_site_and_worker_find_the_compiled_rules_from_any_folder(
    project: Path, installed: Path, tmp_path: Path
) -> None:
    state = project.parent / "state"
    environment = plain_environment(STATE_DIR=str(state), DJANGO_SETTINGS_MODULE="league.settings", SECRET_KEY="test")
    python, manage = str(installed / "python"), str(project / "manage.py")
    state.mkdir()
    shutil.copyfile(migrated.sqlite_file(), state / "league.sqlite3")
    subprocess.run(
        [python, manage, "enter_house", "greedy"], cwd=tmp_path, check=True, capture_output=True, env=environment
    )
    port = free_port()
    site = [python, "-m", "gunicorn", "league.wsgi", "--bind", f"127.0.0.1:{port}"]
    web = Process("gunicorn", site, tmp_path / "web.log", env=environment, cwd=tmp_path)
    worker = Process("worker", [python, manage, "worker"], tmp_path / "worker.log", env=environment, cwd=tmp_path)

    def hosts() -> list[dict[str, object]]:
        with closing(sqlite3.connect(state / "league.sqlite3")) as database:
            return [
                json.loads(row[0]) for row in database.execute("select host from league_match where finished != ''")
            ]

    try:
        wait_for(lambda: answers(port), f"gunicorn: {web.tail(20)}", 120)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/version", timeout=60) as answer:
            version = json.loads(answer.read())
        played = wait_for(hosts, f"a match: {worker.tail(20)}", 240, every=0.5)
    finally:
        web.stop()
        worker.stop()

    assert version["compiled"] is True
    assert version["engine"] == played[0]["engine"]
    assert played[0]["compiled"] is True


def answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/version", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


ASK_A_BOT = """
import json, sys
from pathlib import Path
from engine.runner import runtimes
from engine.sandbox import Policy, Sandbox, check
state, bot = map(Path, sys.argv[1:])
told = {}
for report in check(state):
    if report.isolates and report.holds:
        with Sandbox(report.name, state).start(bot, runtimes.get("python", state), "bot.py", Policy()) as process:
            line = process.ask(b"go\\n", 60, 120).line
            told[report.name] = [line.decode(), process.stderr().decode()]
print(json.dumps(told))
"""
BOT = """
import engine
from engine.search.foresight import Foresight
from engine.search.knowledge import Knowledge
game = engine.load("partnership")
state = game.new_match(seed=7)
known = Knowledge(game, state.turn)
known.follow(engine.redact(state.events, state.turn))
deal = known.deals().deal(engine.Dice(7))
table = Foresight(game)
table.begin(known.state(deal), 2)
table.put(deal)
input()
print(engine.COMPILED, engine.compiled.folder().is_dir(), [table.worth(card) for card in state.legal_actions()])
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_bot_finds_the_compiled_rules_in_every_tier(project: Path, installed: Path, tmp_path: Path) -> None:
    state = project.parent / "sandbox"
    bot = project.parent / "bot"
    for folder in (state, bot):
        folder.mkdir()
    (bot / "bot.py").write_text(BOT)

    process = subprocess.run(
        [installed / "python", "-c", ASK_A_BOT, str(state), str(bot)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=plain_environment(),
    )

    assert process.returncode == 0, process.stderr
    answers = json.loads(process.stdout)
    scores = [str(answer).partition("[")[2] for answer, _ in answers.values()]
    assert answers
    assert len(set(scores)) == 1
    assert all(answer.startswith("True True [") and errors == "" for answer, errors in answers.values()), answers


# ---- what may not run does not run, and says so


@pytest.fixture
def engine_copy(tmp_path: Path) -> Path:
    """Copy the rules; beside them stands what looks like a compilation of them."""
    copy = copy_of(tmp_path / "copy", "engine") / "engine"
    place = compiled.folder(copy)
    for name in ("game", "errors", "_rules__mypyc"):
        file = place / "engine" / f"{name}{compiled.SUFFIX}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    record = {"modules": ["errors", "game"], "source": compiled.digest(copy, ["errors", "game"])}
    (place / compiled.RECORD).write_text(json.dumps(record))
    return copy


def said_by(engine_copy: Path) -> tuple[str, str]:
    """Return the version's line about the rules, and the warnings, of a process that imports the copy."""
    code = "import engine.cli; engine.cli.main(['--version'])"
    env = plain_environment(PYTHONPATH=str(engine_copy.parent))
    process = subprocess.run([sys.executable, "-c", code], cwd="/", capture_output=True, text=True, env=env)
    return process.stdout.partition("rules: ")[2].strip(), process.stderr


def test_rules_that_were_never_compiled_run_in_silence(engine_copy: Path) -> None:
    assert compiling.remove(engine_copy.parent) is True
    assert compiling.remove(engine_copy.parent) is False

    assert said_by(engine_copy) == ("Python source", "")


def test_source_that_has_changed_since_runs_itself(engine_copy: Path) -> None:
    with (engine_copy / "game.py").open("a") as file:
        file.write("\n# changed\n")

    rules, warned = said_by(engine_copy)

    assert rules == "Python source; the compiled rules are not used: their source has changed since"
    assert "RuntimeWarning" in warned
    assert "Run `make fast` again" in warned


def test_a_compilation_for_another_python_is_named(engine_copy: Path) -> None:
    place = compiled.folder(engine_copy)
    place.rename(place.with_name("cpython-399-other"))

    rules, warned = said_by(engine_copy)

    assert rules.endswith(f"they were compiled for cpython-399-other, and this is {compiled.PYTHON}")
    assert "RuntimeWarning" in warned


def test_a_compilation_that_lacks_a_module_is_not_used(engine_copy: Path) -> None:
    (compiled.folder(engine_copy) / "engine" / f"game{compiled.SUFFIX}").unlink()

    assert said_by(engine_copy)[0].endswith("not used: engine.game is missing")


def test_a_compilation_that_cannot_be_loaded_is_not_used(engine_copy: Path) -> None:
    rules, warned = said_by(engine_copy)

    assert "not used: they cannot be loaded: " in rules
    assert "RuntimeWarning" in warned


def test_a_damaged_record_of_a_compilation_is_named(engine_copy: Path) -> None:
    (compiled.folder(engine_copy) / compiled.RECORD).write_text("{")

    assert said_by(engine_copy)[0].endswith(f"their {compiled.RECORD} is damaged")


def test_compiled_files_of_an_older_version_beside_the_source_are_refused(engine_copy: Path) -> None:
    (engine_copy / "game.cpython-311-x.so").touch()

    rules, errors = said_by(engine_copy)

    assert rules == ""
    assert "game.cpython-311-x.so was compiled by an older version" in errors

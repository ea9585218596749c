"""Every command: what it prints, its exit codes, its JSON."""

import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from engine import cli
from engine.cli.bot import KITS, PYTHON, few, short
from engine.cli.output import GOOD, paint
from engine.game import declared, games, load
from engine.packages.archive import read_path
from engine.runner import rare_decisions
from engine.sandbox import TIERS
from engine.sandbox.channels.meter import KINDS
from tests.chaos.forked import Loaded
from tests.engine.cli.conftest import ROOT, Tute, tute_in
from tests.support import languages
from tests.support.bots import FRAME, HONEST

FIRST_GAMES = ("partnership", "corriente", "cabrero")  # They differ in shape


SHOWN = [
    ["games"],
    ["games", "--json"],
    ["cases", "tests/cases/partnership.yaml"],
    ["rules", "partnership"],
    *(["games", key] for key in games()),
    *([name, "--help"] for name in cli.COMMANDS),
    ["play", "greedy", "random", "-g", "a_dos", "-n", "1", "--seed", "7", "--no-sandbox"],
    ["play", "greedy", "random", "-g", "a_dos", "-n", "1", "--seed", "7", "--no-sandbox", "--json"],
    ["games", "señor"],
]


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_console_without_our_letters_gets_every_result(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PYTHONIOENCODING=ascii does the same; a result that took an hour would be lost. JSON stays what it was."""

    def printed(words: list[str], encoding: str) -> str:
        out = io.TextIOWrapper(io.BytesIO(), encoding)
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding))
        with suppress(SystemExit):
            cli.main(words)
        out.flush()
        return out.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]

    for words in SHOWN if encoding == "ascii" else SHOWN[:2]:
        text, usual = printed(words, encoding), printed(words, "utf-8")
        if "--json" in words:
            assert json.loads(text).keys() == json.loads(usual).keys()
        assert len(text) >= len(usual) // 2, words
    assert printed(["games", "\udcff"], "utf-8") == "", (
        "what the console itself could not read is refused, not a traceback"
    )


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)


def test_help_loads_neither_rules_nor_libraries() -> None:
    code = (
        "import sys, engine.cli\n"
        "try: engine.cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('rich', 'yaml', 'django', 'engine.runner.match', 'engine.sandbox') if m in sys.modules], file=sys.stderr)"
    )
    process = run_python(code)

    assert process.stderr == "[]\n"
    assert "exit codes:" in process.stdout


def test_django_is_never_imported() -> None:
    code = (
        "import sys, importlib, pkgutil, engine.cli, engine.runner\n"
        "for package in (engine.cli, engine.runner):\n"
        "    for m in pkgutil.iter_modules(package.__path__):\n"
        "        if m.name != '__main__': importlib.import_module(package.__name__ + '.' + m.name)\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'django', 'league', 'bots', 'celery', 'numpy'}))"
    )
    process = run_python(code)

    assert process.stdout == "[]\n"


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([command, "--help"])

    assert caught.value.code == 0
    output = capsys.readouterr().out
    assert f"example:\n  tute {command}" in output
    assert ("--json" in output) == (command not in ("serve", "remote", "volunteer")), (
        "these run until they are stopped, and print no result"
    )


def test_games_lists_all_and_the_options_of_one(tute: Tute) -> None:
    listed = tute("games").stdout
    assert [line.split()[0] for line in listed.splitlines()[2 : 2 + len(games())]] == games()

    data = json.loads(tute("games", "--json").stdout)["games"]
    assert [game["key"] for game in data] == games()
    partnership = next(game for game in data if game["key"] == "partnership")
    assert partnership["players"] == [4]
    assert partnership["options"]["win_by"] == {"values": [1, 2], "default": {"4": 1}}
    assert "match_games" in tute("games", "partnership").stdout


def test_games_unknown_says_which_there_are(tute: Tute) -> None:
    assert "unknown game 'mus'; games are: " in tute("games", "mus", code=2).stderr


@pytest.mark.parametrize("command", [("games",), ("rules",), ("bench", "engine", "--seconds", "0.01", "-g")])
def test_every_command_takes_the_name_of_a_game_and_says_which_was_meant(tute: Tute, command: tuple[str, ...]) -> None:
    wrong = tute(*command, "partnershp", code=2).stderr
    assert "unknown game 'partnershp' (did you mean 'partnership'?)" in wrong
    if command != ("bench", "engine", "--seconds", "0.01", "-g"):
        assert "Tute por parejas" in tute(*command, "parejas").stdout


@pytest.fixture(scope="module")
def played(
    state_dir: Path, loaded: Loaded, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Return what a match printed, and its log: two boards in the sandbox, played once for all tests."""
    folder = tmp_path_factory.mktemp("played")
    words = ("play", "greedy", "random", "-g", "partnership", "-n", 2, "--seed", "7", "--log", "log.jsonl")
    return tute_in(folder, state_dir, loaded)(*words), folder / "log.jsonl"


@pytest.fixture
def log(played: tuple[subprocess.CompletedProcess[str], Path], tmp_path: Path) -> Path:
    """Return that log in the folder of the test."""
    return Path(shutil.copy(played[1], tmp_path))


def test_play_prints_results_and_writes_a_log_that_holds(
    tute: Tute, played: tuple[subprocess.CompletedProcess[str], Path], log: Path
) -> None:
    process = played[0]

    assert all(" of " in line for line in process.stderr.splitlines()), "progress, where it took long, and nothing else"
    assert "Tute por parejas: 2 boards, 4 games, seed 7" in process.stdout
    assert "sealed" not in process.stdout
    assert "\033[" not in process.stdout, "a pipe is no terminal"
    assert "decisions/s" in process.stdout
    assert "95% interval" in process.stdout
    assert len(log.read_text().splitlines()) == 4
    assert tute("verify", "log.jsonl").stdout == "4 of 4 replays are valid\n"


def test_play_with_the_same_seed_gives_the_same_numbers(tute: Tute, state_dir: Path) -> None:
    """Also in another interpreter, whose hashes of texts are others."""
    words = ["play", "greedy", "random", "-g", "corriente", "-n", "1", "--no-sandbox", "--json", "--seed"]
    started = subprocess.run(
        [sys.executable, "-m", "engine.cli", *words, "a"],
        env={**os.environ, "STATE_DIR": str(state_dir), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    runs = [json.loads(text) for text in (started.stdout, tute(*words, "a").stdout, tute(*words, "b").stdout)]

    for run in runs:
        assert run["format"] == "tute-play/1"
        assert [party["name"] for party in run["parties"]] == ["greedy", "random"]
        assert all(board["complete"] for board in run["boards"])
    assert runs[0]["boards"] == runs[1]["boards"] != runs[2]["boards"]


def test_play_seats_as_many_as_the_table_needs(tute: Tute) -> None:
    three = json.loads(
        tute("play", "random", "random", "greedy", "-g", "bato", "-n", 1, "--seed", 1, "--no-sandbox", "--json").stdout
    )

    assert [party["name"] for party in three["parties"]] == ["random", "random (2)", "greedy"]
    assert three["players"] == 3
    assert [board["sittings"][1]["seating"] for board in three["boards"]] == [[1, 2, 0]]


def test_play_files_and_explains_their_faults(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(
        FRAME.format(body="def act(m):\n    sys.stderr.write('I think\\n')\n    return 'hello\\n'")
    )
    (tmp_path / "right.py").write_text(HONEST)

    process = tute("play", "wrong.py", "right.py", "-g", "partnership", "-n", 1, "--no-sandbox", code=1)

    assert "wrong failed by protocol (board 1, seats A, seat " in process.stdout
    assert '\n  request: {"type":"act","id":1,"events":[' in process.stdout
    assert "answer:  hello" in process.stdout
    assert "\n  I think" in process.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("greedy", "random", "-g", "mus"), "unknown game 'mus'"),
        (("greedy", "nobody", "-g", "partnership"), "no bot 'nobody'"),
        (("greedy", "random", "random", "-g", "partnership"), "takes 2 parties, not 3"),
        (("greedy", "random", "-g", "partnership", "-o", "win_by=7"), "win_by must be one of 1, 2"),
        (("greedy", "random", "-g", "partnership", "-o", "nothing=1"), "no option 'nothing'"),
        (("greedy", "random", "-g", "partnership", "-o", "win_by"), "-o needs name=value"),
        (("greedy", "random", "-g", "partnership", "-n", "0"), "at least one board"),
        (("greedy", "random", "-g", "partnership", "--log", "x.json"), "ends in .jsonl"),
        (("greedy", "random", "-g", "partnership", "--move-s", "0"), "move_s must be more than 0"),
        (("greedy", "random", "-g", "partnership", "--memory-mb", "1"), "limit memory_mb is 1, but python needs"),
    ],
)
def test_play_bad_input_says_what_to_do(words: tuple[str, ...], message: str, tute: Tute) -> None:
    process = tute("play", *words, code=2)

    assert message in process.stderr
    assert "Traceback" not in process.stderr
    assert process.stdout == ""


def test_play_refused_package_says_why(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "bot").mkdir()
    (tmp_path / "bot" / "bot.py").write_text(HONEST)

    assert "no bot.toml at the top of the package" in tute("play", "bot", "random", "-g", "partnership", code=2).stderr


def test_verify_names_file_line_and_step(tute: Tute, log: Path, tmp_path: Path) -> None:
    lines = log.read_text().splitlines()
    replay = json.loads(lines[2])
    plays = [event for event in replay["events"] if event["e"] == "play"]
    plays[13]["card"] = "1o" if plays[13]["card"] != "1o" else "3o"
    lines[2] = json.dumps(replay)
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines, "not json", ""]))

    process = tute("verify", "log.jsonl", "bad.jsonl", code=1)

    messages = process.stdout.splitlines()
    assert messages[0].startswith("bad.jsonl:3: step 14: event ")
    assert messages[1].startswith("bad.jsonl:5: not JSON")
    assert messages[2] == "7 of 9 replays are valid"
    data = json.loads(tute("verify", "bad.jsonl", "--json", code=1).stdout)
    assert (data["held"], [(f["line"], f["step"]) for f in data["failed"]]) == (3, [(3, 14), (5, 0)])


def test_verify_one_replay_in_a_file(tute: Tute, log: Path, tmp_path: Path) -> None:
    replay = json.loads(log.read_text().splitlines()[0])
    (tmp_path / "one.json").write_text(json.dumps(replay, indent=1))

    assert tute("verify", "one.json").stdout == "1 of 1 replays are valid\n"


def test_verify_without_a_file_or_replay_is_a_usage_error(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")

    assert "no.jsonl: No such file" in tute("verify", "no.jsonl", code=2).stderr
    assert "no replay in empty.jsonl" in tute("verify", "empty.jsonl", code=2).stderr


def test_cases_run_and_fail_with_the_case(tute: Tute, tmp_path: Path) -> None:
    good = ROOT / "tests" / "cases" / "partnership.yaml"
    (tmp_path / "bad.yaml").write_text(
        good.read_text().replace('expect: {legal: ["1c", "3c"]}', 'expect: {legal: ["1c"]}', 1)
    )

    process = tute("cases", good)
    failed = tute("cases", "bad.yaml", code=1)

    words = process.stdout.split()
    assert words[0] == words[2]
    assert words[3:] == ["cases", "pass"]
    assert "bad.yaml: par-leg-02 (legal_move): " in failed.stdout
    assert json.loads(tute("cases", good, "--json").stdout)["failed"] == []
    assert "No such file" in tute("cases", "none.yaml", code=2).stderr


def test_bench_engine_gives_ratios(tute: Tute) -> None:
    data = json.loads(tute("bench", "engine", "-g", "partnership", "--seconds", "0.5", "--json").stdout)

    game = data["games"][0]
    assert game["game"] == "partnership"
    assert game["decisions_per_match"] > 40
    assert game["per_s"] > game["recorded_per_s"] > 0
    assert game["ratio"] > 0.3
    assert game["clone_in_plays"] < 3
    assert game["play_many_per_s"] > 0
    assert data["open_spiel"] is ("hearts" in data["rival"])


@pytest.mark.slow
def test_bench_sandbox_gives_every_tier_over_the_same_interpreter(tute: Tute) -> None:
    data = json.loads(tute("bench", "sandbox", "--seconds", "0.5", "--json").stdout)

    assert data["format"] == "tute-bench-sandbox/1"
    assert data["rounds"] >= 10
    first, *others = data["rows"]
    assert (first["what"], first["over_best_ms"], first["over_median_ms"]) == ("no sandbox", 0.0, 0.0)
    assert {"none"} <= {row["what"] for row in others} <= {tier.name for tier in TIERS}
    assert all(row["over_best_ms"] == row["best_ms"] - first["best_ms"] for row in others)


@pytest.mark.slow
def test_bench_runner_gives_ratios(tute: Tute) -> None:
    data = json.loads(tute("bench", "runner", "--seconds", "0.5", "--json").stdout)

    assert data["rounds"] >= 3
    assert 0 < data["floor_us"] < data["runner_us"]
    assert data["start_ms"] > 0


def test_sandbox_check_proves_tiers(tute: Tute) -> None:
    process = tute("sandbox", "check", "--json", code=None)

    tiers = {tier["name"]: tier for tier in json.loads(process.stdout)["tiers"]}
    assert list(tiers) == [tier.name for tier in TIERS]
    assert process.returncode == (0 if any(tier["holds"] for tier in tiers.values() if tier["isolates"]) else 1)
    for tier in tiers.values():
        assert tier["holds"] or tier["reasons"]
    groups = json.loads(process.stdout)["control_groups"]
    assert groups["kind"] in ("v2", "v1", "none")
    assert groups["note"]


@pytest.mark.slow
def test_sandbox_channels_gives_bits_a_decision_and_puts_them_into_a_document(tute: Tute, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- channels: begin -->\nold\n<!-- channels: end -->\nafter\n")

    words = ("--tier", "none", "--trials", "4", "--json", "--write", str(page))
    data = json.loads(tute("sandbox", "channels", *words).stdout)

    assert data["format"] == "tute-sandbox-channels/1"
    assert [row["channel"] for row in data["rows"]] == [kind.name for kind in KINDS]
    for row in data["rows"]:
        assert (row["tier"], 0 <= row["low"] <= row["bits"] <= row["high"]) == ("none", True)
    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1], "old" in lines) == ("before", "after", False)
    assert lines[2:4] == ["| channel | tried | `none` |", "|---|---|---|"]
    assert len(lines) == len(KINDS) + 6


def test_sandbox_channels_says_what_it_needs(tute: Tute) -> None:
    assert "give at least 4" in tute("sandbox", "channels", "--trials", "3", code=2).stderr
    assert "no tier glass holds here" in tute("sandbox", "channels", "--tier", "glass", code=2).stderr


@pytest.mark.slow
def test_bot_new_makes_a_bot_that_passes_its_check(tute: Tute, tmp_path: Path) -> None:
    process = tute("bot", "new", "my_bot")

    assert "created my_bot (in a league: my-bot): " in process.stdout
    assert 'name = "my_bot"' in (tmp_path / "my_bot" / "bot.toml").read_text()
    checked = tute("bot", "check", "my_bot", *[word for game in FIRST_GAMES for word in ("-g", game)])
    assert "tables played without a fault: the bot may be entered" in checked.stdout
    assert "exists already" in tute("bot", "new", "my_bot", code=2).stderr


@pytest.mark.parametrize("language", KITS)
def test_bot_new_in_another_language_is_its_kit(language: str, tute: Tute, tmp_path: Path) -> None:
    """tests/engine/runner/test_kits.py builds the kits and plays with them."""
    tute("bot", "new", "my_bot", "--language", language)

    package, kit = (read_path(folder) for folder in (tmp_path / "my_bot", ROOT / "bots" / KITS[language]))
    assert language == PYTHON or package.files.keys() == kit.files.keys()
    assert {name for name in kit.files if package.files[name] != kit.files[name]} == {"bot.toml"}
    assert (package.manifest.name, package.manifest.build) == ("my_bot", kit.manifest.build and language)


@pytest.mark.slow
@pytest.mark.parametrize(("language", "tool"), [("c++", "c++"), ("c-wasm", "clang"), ("javascript", "node")])
def test_bot_check_builds_and_plays_another_language(
    language: str, tool: str, tute: Tute, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{languages.offer(tool)}:{os.environ['PATH']}")

    tute("bot", "new", "my_bot", "--language", language)
    checked = tute("bot", "check", "my_bot", "-g", "corriente")
    assert "tables played without a fault: the bot may be entered" in checked.stdout


def test_every_kit_has_a_language() -> None:
    folders = {f"kits/{path.name}" for path in (ROOT / "bots" / "kits").iterdir() if path.is_dir()}
    assert folders == {folder for language, folder in KITS.items() if language != PYTHON}


def test_bot_pack_writes_what_a_league_takes(tute: Tute, tmp_path: Path, state_dir: Path, loaded: Loaded) -> None:
    tute("bot", "new", "my_bot")

    assert "packed my_bot: " in tute("bot", "pack", "my_bot").stdout
    assert read_path(tmp_path / "my_bot.zip") == read_path(tmp_path / "my_bot")
    assert json.loads(tute("bot", "pack", "my_bot", "--json").stdout)["zip"] == "my_bot.zip"
    inside = tute_in(tmp_path / "my_bot", state_dir, loaded)
    for _ in range(2):
        inside("bot", "pack", ".")
    assert read_path(tmp_path / "my_bot.zip") == read_path(tmp_path / "my_bot"), "without the last zip"
    assert not list((tmp_path / "my_bot").glob("*.zip"))
    for path, why, code in (("my_bot.zip", "a zip already", 2), ("none", "no file or folder", 2), (".", "bot.toml", 1)):
        assert why in tute("bot", "pack", path, code=code).stderr


def test_bot_new_prints_commands_that_work_for_any_name(tute: Tute) -> None:
    output = tute("bot", "new", "mi bot").stdout

    assert "created mi bot (in a league: mi-bot): " in output
    assert "\n  tute bot check 'mi bot'\n  tute play 'mi bot' random -n 50\n  tute submit 'mi bot'\n" in output


@pytest.mark.slow
def test_bot_check_takes_few_tables_that_meet_every_kind_of_decision(tute: Tute) -> None:
    every = [(key, players) for key in games() for players in declared(key).players]
    meets = {at: set(rare_decisions.known_boards(load(at[0], players=at[1]))) for at in every}

    chosen = few(every)
    data = json.loads(tute("bot", "check", "random", "-g", "podrida", "--json").stdout)

    assert set().union(*(meets[at] for at in chosen)) == set().union(*meets.values())
    assert len(chosen) < 9
    assert {game for game, _players in short(every)} == set(games()), "an author expects each game of the bot"
    assert set(chosen) <= set(short(every))
    assert len(short(every)) < len(every) / 2
    assert few([("partnership", 4)]) == [("partnership", 4)]
    assert [table["players"] for table in data["tables"]] == list(declared("podrida").players)
    assert data["left_out"] == 0, "who names a game gets all of its tables"


@pytest.mark.slow
def test_bot_check_explains_a_failure(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "cheat.py").write_text(
        FRAME.format(body="def act(m): return json.dumps({'id': m['id'], 'do': 'play 9z'}) + '\\n'")
    )

    process = tute("bot", "check", "cheat.py", "-g", "partnership", code=1)

    assert "FAILED Tute por parejas, 4 players" in process.stdout
    assert "cheat failed by illegal_action" in process.stdout
    assert '"do": "play 9z"' in process.stdout
    data = json.loads(tute("bot", "check", "cheat.py", "-g", "partnership", "--json", code=1).stdout)
    assert data["holds"] is False
    assert {fault["kind"] for fault in data["tables"][0]["faults"]} == {"illegal_action"}


def test_bot_check_stops_at_a_bot_that_does_not_start_and_says_why_in_a_line(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "typo.py").write_text("import sys\n\ndef act(:\n    pass\n")

    process = tute("bot", "check", "typo.py", "--no-sandbox", code=1)

    assert "typo does not start: typo.py, line 3: SyntaxError: invalid syntax" in process.stdout
    assert process.stdout.count("  SyntaxError: invalid syntax") == 1, "one log, not one of each table"
    data = json.loads(tute("bot", "check", "typo.py", "--no-sandbox", "--json", code=1).stdout)
    assert (len(data["tables"]), data["holds"]) == (1, False)
    assert data["left_out"] > 20


def test_results_of_a_check_come_without_progress_between_them(tute: Tute) -> None:
    assert tute("bot", "check", "random", "-g", "a_dos", "--no-sandbox").stderr == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("plya",), "there is no command 'plya' (did you mean 'play'?)"),
        (("play", "greedy", "random", "--bords", "3"), "there is no option --bords (did you mean '--boards'?)"),
        (("bot", "chek", "my_bot"), "'chek' is not allowed (did you mean 'check'?)"),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest_one(words: tuple[str, ...], message: str, tute: Tute) -> None:
    process = tute(*words, code=2)

    assert message in process.stderr
    assert len(process.stderr.splitlines()) == 2, "what is wrong and where to look, without a page of usage"


def test_a_log_of_ones_own_is_shown_as_text(tute: Tute, log: Path, tmp_path: Path) -> None:
    text = tute("replay", log).stdout

    assert text.count("Tute por parejas, board ") == 4
    assert " 10. " in text
    assert "Result: greedy 1 " in text
    assert tute("replay", log, "--board", 2).stdout.count("Tute por parejas, board 2") == 2
    assert "has no board 9" in tute("replay", log, "--board", 9, code=2).stderr
    assert "there is no file other.jsonl" in tute("replay", "other.jsonl", code=2).stderr
    (tmp_path / "text.jsonl").write_text('{"format": "other"}\n')
    assert "text.jsonl, line 1: this is no replay" in tute("replay", "text.jsonl", code=1).stderr


def test_colours_only_where_they_are_wanted(tute: Tute) -> None:
    words = ("play", "greedy", "random", "-n", 2, "--seed", "7", "--no-sandbox")

    assert "\033[32m" in tute(*words, "--color", "always").stdout


def test_colours_on_a_terminal_follow_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert paint("won", GOOD, Terminal()) == "\033[32mwon\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert paint("won", GOOD, Terminal()) == "won"


def test_bot_check_refused_package_fails(tute: Tute, tmp_path: Path) -> None:
    (tmp_path / "bad.zip").write_bytes(b"PK\x03\x04 nothing")

    assert "bad.zip: the zip has no directory" in tute("bot", "check", "bad.zip", code=1).stderr

"""`tute verify --reveal`: the deals of a log against the secret that they were committed to, and every way in which that may fail."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from engine.cards import chance
from engine.runner.evidence.reveal import KINDS
from tests.chaos.forked import Loaded
from tests.engine.cli.conftest import Tute, tute_in
from tests.support.parts import mostly_slow

SECRET = chance.as_seed("abc")
COMMITMENT = hashlib.sha256(SECRET).hexdigest()
Log = list[dict]


def played(tute: Tute, seed: str, game: str = "partnership") -> None:
    bots = Path(__file__).resolve().parents[3] / "bots" / "house"
    tute(
        "play",
        bots / "random",
        bots / "greedy",
        "-g",
        game,
        "-n",
        2,
        "--seed",
        seed,
        "--log",
        f"{seed}.jsonl",
        "--no-sandbox",
    )


@pytest.fixture(scope="module")
def real_log(state_dir: Path, loaded: Loaded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the log of two boards, each in two sittings, dealt from the secret: played once for all tests."""
    folder = tmp_path_factory.mktemp("log")
    played(tute_in(folder, state_dir, loaded), "abc")
    return folder / "abc.jsonl"


@pytest.fixture
def log(real_log: Path, tmp_path: Path) -> Log:
    """Return that log, in the test's folder."""
    shutil.copy(real_log, tmp_path)
    return read(real_log)


def read(path: Path) -> Log:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def verify(tute: Tute, tmp_path: Path, log: Log, *words: object, code: int = 0) -> dict:
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(replay) + "\n" for replay in log), encoding="utf-8")
    return json.loads(tute("verify", *words, "--json", "log.jsonl", code=code).stdout)


def kinds(answer: dict) -> list[str]:
    kinds_in_answer = [entry["kind"] for entry in (*answer["failed"], *answer["left_out"])]
    assert set(kinds_in_answer) <= {*KINDS, "replay"}
    return kinds_in_answer


@pytest.mark.parametrize("game", mostly_slow(["partnership", "cabrero", "guinote"], "partnership".__eq__))
def test_the_log_of_a_real_match_holds(tute: Tute, tmp_path: Path, game: str) -> None:
    """Suits are exchanged from sitting to sitting where the rules name none; that is proved too."""
    words = ("-o", "players=4") if game == "cabrero" else ()
    bots = Path(__file__).resolve().parents[3] / "bots" / "house"
    four = [bots / "random"] * (4 if game == "cabrero" else 2)
    tute("play", *four, "-g", game, *words, "-n", 2, "--seed", "abc", "--log", "abc.jsonl")
    log = read(tmp_path / "abc.jsonl")
    assert all(replay["meta"]["secret_sha256"] == COMMITMENT for replay in log)
    assert (len({replay["suits"] for replay in log}) > 1) == (game != "cabrero")
    answer = verify(tute, tmp_path, log, "--reveal", SECRET.hex(), "--commitment", COMMITMENT)
    assert (answer["held"], kinds(answer), answer["commitment"]) == (len(log), [], COMMITMENT)


def test_what_is_said_to_people(tute: Tute, log: Log) -> None:
    output = tute("verify", "--reveal", "seed:abc", "abc.jsonl").stdout
    assert "4 of 4 replays are valid" in output
    assert f"follows from the secret with the hash {COMMITMENT}: match local abc, table local, boards 1 to 2" in output


def test_a_file_may_hold_the_secret_or_the_tournament(tute: Tute, tmp_path: Path, log: Log) -> None:
    (tmp_path / "secret.txt").write_text(SECRET.hex() + "\n")
    (tmp_path / "cup.json").write_text(json.dumps({"secret": SECRET.hex(), "secret_sha256": COMMITMENT}))
    for name in ("secret.txt", "cup.json"):
        assert kinds(verify(tute, tmp_path, log, "--reveal", name)) == []


def test_another_secret_is_refused(tute: Tute, tmp_path: Path, log: Log) -> None:
    answer = verify(tute, tmp_path, log, "--reveal", "seed:abd", code=1)
    assert kinds(answer) == ["wrong_secret"] * 4
    assert COMMITMENT in answer["failed"][0]["problem"]


def test_a_secret_that_was_not_published_before_play_is_refused(tute: Tute, tmp_path: Path, log: Log) -> None:
    """A league that exchanges secret and log after play is found out by who noted the hash before."""
    other = hashlib.sha256(b"noted before play").hexdigest()
    process = tute("verify", "--reveal", SECRET.hex(), "--commitment", other, "abc.jsonl", code=1)
    assert "wrong_secret" in process.stderr
    assert other in process.stderr
    (tmp_path / "cup.json").write_text(json.dumps({"secret": SECRET.hex(), "secret_sha256": other}))
    assert "wrong_secret" in tute("verify", "--reveal", "cup.json", "abc.jsonl", code=1).stderr


def test_a_deal_that_was_exchanged_is_found(tute: Tute, tmp_path: Path, log: Log) -> None:
    """A whole replay of other cards, sound in itself, under the header of a committed board."""
    played(tute, "other")
    log[1] = read(tmp_path / "other.jsonl")[1] | {"meta": log[1]["meta"]}
    answer = verify(tute, tmp_path, log, "--reveal", SECRET.hex(), code=1)
    assert kinds(answer)[:1] == ["altered_deal"]
    assert answer["failed"][0]["line"] == 2


def test_a_card_that_was_exchanged_is_found(tute: Tute, tmp_path: Path, log: Log) -> None:
    deal = next(event for event in log[0]["events"] if event["e"] == "deal")
    deal["hands"][0][0], deal["hands"][1][0] = deal["hands"][1][0], deal["hands"][0][0]
    assert kinds(verify(tute, tmp_path, log, "--reveal", SECRET.hex(), code=1))[0] == "replay"


def test_the_cards_of_another_board_are_found(tute: Tute, tmp_path: Path, log: Log) -> None:
    """Also those of another sitting: its suits lie otherwise."""
    for name, value in (("board", 9), ("sitting", log[0]["meta"]["sitting"] + 1), ("table", "elsewhere")):
        changed = [{**log[0], "meta": log[0]["meta"] | {name: value}}]
        assert kinds(verify(tute, tmp_path, changed, "--reveal", SECRET.hex(), code=1))[0] == "altered_deal"


@pytest.mark.parametrize("name", ["board", "table", "sitting"])
def test_a_log_that_does_not_name_its_board_is_refused(tute: Tute, tmp_path: Path, log: Log, name: str) -> None:
    del log[0]["meta"][name]
    assert kinds(verify(tute, tmp_path, log, "--reveal", SECRET.hex(), code=1))[0] == "missing_board"


def test_a_board_that_was_left_out_is_missed(tute: Tute, tmp_path: Path, log: Log) -> None:
    second = [replay for replay in log if replay["meta"]["board"] == 2]
    answer = verify(tute, tmp_path, second, "--reveal", SECRET.hex(), code=1)
    assert kinds(answer) == ["missing_board"]
    assert "lacks board 1" in answer["left_out"][0]["problem"]
    assert kinds(verify(tute, tmp_path, log[:-1], "--reveal", SECRET.hex(), code=1)) == ["missing_board"]
    first = [replay for replay in log if replay["meta"]["board"] == 1]
    answer = verify(tute, tmp_path, first, "--reveal", SECRET.hex(), code=1)
    assert "lacks board 2" in answer["left_out"][0]["problem"]


def test_without_a_commitment_the_one_noted_before_play_is_asked_for(tute: Tute, tmp_path: Path, log: Log) -> None:
    for replay in log:
        del replay["meta"]["secret_sha256"]
    assert kinds(verify(tute, tmp_path, log, "--reveal", SECRET.hex(), code=1)) == ["no_commitment"] * 4
    assert kinds(verify(tute, tmp_path, log, "--reveal", SECRET.hex(), "--commitment", COMMITMENT)) == []


@pytest.mark.parametrize("secret", ["", "12ab", SECRET.hex()[:-2], "zz" * 32, '{"secret": null}', "{", '{"secret": 7}'])
def test_what_is_no_secret_is_explained(tute: Tute, log: Log, secret: str) -> None:
    assert "--reveal: " in tute("verify", "--reveal", secret, "abc.jsonl", code=2).stderr


def test_a_commitment_alone_or_malformed_is_explained(tute: Tute, log: Log) -> None:
    assert "--reveal" in tute("verify", "--commitment", COMMITMENT, "abc.jsonl", code=2).stderr
    process = tute("verify", "--reveal", "seed:abc", "--commitment", "12", "abc.jsonl", code=2)
    assert "64 hexadecimal digits" in process.stderr

"""Files of replays: every compression reads the same, damage is named, and positions are those of the engine."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import shutil
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema
import pytest
import zstandard

import engine
from engine import data
from engine.cli import main
from tests.support.compose import TOP

SAMPLE = TOP / "examples" / "open_data_sample.jsonl.zst"
META = {"match": "m1", "board": 1, "sitting": 0, "seating": [0, 1, 0, 1], "parties": ["rufo v1", "lola v2"]}


def replay(seed: int = 1) -> dict:
    state = engine.load("partnership").new_match(seed=seed)
    while not state.is_over:
        state.apply(state.legal_actions()[0])
    return json.loads(json.dumps(engine.replay.make(state, META)))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same two replays as a file of each kind."""
    text = b"".join(json.dumps(replay(seed)).encode() + b"\n\n" for seed in (1, 2))
    kinds = {"jsonl": text, "jsonl.gz": gzip.compress(text), "jsonl.zst": zstandard.compress(text)}
    for kind, content in kinds.items():
        (tmp_path / f"x.{kind}").write_bytes(content)
    return {kind: tmp_path / f"x.{kind}" for kind in kinds}


def test_each_compression_reads_the_same(files, capsys) -> None:
    for path in files.values():
        assert list(data.replays(path)) == [replay(1), replay(2)]
        assert main(["verify", str(path)]) == 0
    capsys.readouterr()


def test_positions_are_the_decisions_of_the_engine() -> None:
    record, count = replay(), 0
    for state, action in data.positions(record):
        assert action in state.legal_actions()
        assert state.game.action_text(action) == record["actions"][count]
        count += 1
    assert count == len(record["actions"])
    assert state.scores() == record["scores"]
    for wrong in ("play 9x", "pass", record["actions"][-1]):
        with pytest.raises(engine.replay.ReplayError, match="step 1"):
            list(data.positions({**record, "actions": [wrong]}))


BROKEN = {
    "no JSON": (b"{\n", "1: not JSON"),
    "deep": (b"[" * 100_000, "1: not JSON"),
    "a list": (b"[]\n", "the whole is no object"),
    "no field": (b"{}\n", "format is missing"),
    "another format": (json.dumps({**replay(), "format": "x"}).encode(), "format is not 'tute-replay/1'"),
    "a truth for a number": (json.dumps({**replay(), "players": True}).encode(), "players is no integer"),
    "a wrong item": (json.dumps({**replay(), "actions": [7]}).encode(), r"actions\[0\] is no string"),
    "inside": (json.dumps({**replay(), "meta": {"board": "1"}}).encode(), "meta.board is no integer"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_wrong_is_named(tmp_path, capsys, kind) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(BROKEN[kind][0])
    with pytest.raises(data.DataError, match=BROKEN[kind][1]):
        list(data.replays(path))
    assert main(["data", str(path), "--to", str(tmp_path / "t.csv")]) == 1
    assert not list(tmp_path.glob("t.csv*"))
    capsys.readouterr()


def test_a_seat_without_a_bot_is_named(tmp_path, capsys) -> None:
    path = tmp_path / "x.jsonl"
    for meta in ({"seating": [0, 2], "parties": ["a", "b"]}, {"seating": [-1], "parties": ["a"]}, {"seating": [0]}):
        path.write_text(json.dumps({**replay(), "meta": meta}))
        assert main(["data", str(path)]) == 1
        assert "does not name" in capsys.readouterr().out


def test_a_damaged_file_and_an_endless_line_are_refused(files, monkeypatch) -> None:
    whole = {kind: path.read_bytes() for kind, path in files.items()}
    for kind in ("jsonl.gz", "jsonl.zst"):
        content = bytearray(files[kind].read_bytes())
        content[len(content) // 2] ^= 255
        files[kind].write_bytes(content)
        with pytest.raises(data.DataError):
            list(data.replays(files[kind]))
    for kind in ("jsonl.gz", "jsonl.zst"):
        files[kind].write_bytes(whole[kind][:-7])
        with pytest.raises(data.DataError):
            list(data.replays(files[kind]))
    monkeypatch.setattr(data, "LONGEST", 100)
    with pytest.raises(data.DataError, match="longer than"):
        list(data.replays(files["jsonl"]))


def test_the_command_checks_the_digest_and_writes_a_table(files, tmp_path, capsys) -> None:
    path, table = files["jsonl.zst"], tmp_path / "t.csv"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert main(["data", str(path), "--json", "--to", str(table)]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": path.name,
        "sha256": digest,
        "checked": False,
        "matches": 1,
        "replays": {"partnership": 2},
    }
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [json.loads(row["scores"]) for row in rows] == [replay(1)["scores"], replay(2)["scores"]]
    assert json.loads(rows[0]["bots"]) == ["rufo v1", "lola v2", "rufo v1", "lola v2"]
    assert main(["data", str(path), "--sha256", digest.upper()]) == 0
    assert main(["data", str(path), "--sha256", "0" * 64]) == 1
    assert "download it again" in capsys.readouterr().out
    path.with_name(path.name + ".sha256").write_text(f"{'1' * 64}  {path.name}\n")
    assert main(["data", str(path)]) == 1
    path.with_name(path.name + ".sha256").write_text("")
    assert main(["data", str(path)]) == 2
    assert main(["data", str(tmp_path / "none.jsonl")]) == 2
    capsys.readouterr()


def test_no_cell_of_the_table_is_a_formula(tmp_path, capsys) -> None:
    path, table = tmp_path / "x.jsonl", tmp_path / "t.csv"
    texts = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "a;=1", "a\n@b", "m-1;2"]
    metas = [{**META, "match": text, "parties": [text, "lola v2"]} for text in texts]
    path.write_text("\n".join(json.dumps({**replay(), "meta": meta}) for meta in metas))
    assert main(["data", str(path), "--to", str(table)]) == 0
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    plain = ["'=1+1", "'+1", "'-1", "'@a", "'\t=1", "'\r=1", "a;'=1", "a\n'@b", "m-1;2"]
    assert [row["match"] for row in rows] == plain
    assert json.loads(rows[6]["bots"])[0] == "a;'=1"
    assert json.loads(rows[0]["scores"]) == replay()["scores"]
    capsys.readouterr()


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_pandas_and_arrow_read_the_table(files, tmp_path, monkeypatch, capsys, kind) -> None:
    import pandas  # Here, because every process that collects tests would wait for them
    import pyarrow

    path, rows = files["jsonl.zst"], [data.row(replay(1)), data.row(replay(2))]
    assert data.table(path).to_pylist() == rows
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data, "ROWS", 1)
    assert main(["data", str(path), "--to", kind]) == 0
    read = {"parquet": pandas.read_parquet, "arrow": lambda file: pyarrow.ipc.open_file(file).read_pandas()}[kind]
    frame = read(f"x.{kind}")
    assert list(frame.columns) == list(rows[0])
    assert [list(scores) for scores in frame["scores"]] == [row["scores"] for row in rows]
    assert frame.equals(data.table(path).to_pandas())
    files["jsonl"].write_text(json.dumps({**replay(), "meta": {**META, "board": 1 << 80}}))
    assert main(["data", str(files["jsonl"]), "--to", f"y.{kind}"]) == 1
    assert "does not fit" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["data", str(path), "--to", f"y.{kind}"]) == 1
    assert "pip install 'tute-league[data]'" in capsys.readouterr().out
    assert main(["data", str(path), "--to", "y.xlsx"]) == 2
    assert "none of .csv, .parquet, .arrow" in capsys.readouterr().err
    assert not list(tmp_path.glob("y.*"))


def test_an_address_is_downloaded_checked_and_stored(files, tmp_path, capsys) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    path = files["jsonl.zst"]
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/{path.name}"
    try:
        assert main(["data", address, "--save", str(folder)]) == 3, "it has no digest"
        path.with_name(path.name + ".sha256").write_text(f"{'1' * 64}  {path.name}\n")
        assert main(["data", address, "--save", str(folder)]) == 1
        assert list(folder.iterdir()) == [], "a damaged file replaces no good one"
        path.with_name(path.name + ".sha256").write_text(f"{data.digest(path)}  {path.name}\n")
        assert main(["data", address, "--save", str(folder)]) == 0
    finally:
        server.shutdown()
        server.server_close()
    assert sorted(file.name for file in folder.iterdir()) == [path.name, f"{path.name}.sha256"]
    assert main(["data", str(folder / path.name), "--json"]) == 0
    assert '"checked": true' in capsys.readouterr().out


def test_the_sample_is_what_the_schema_and_the_rules_say(tmp_path, capsys) -> None:
    schema = json.loads(data.SCHEMA.read_text())
    for record in data.replays(SAMPLE):
        jsonschema.validate(record, schema)
    assert main(["data", str(SAMPLE)]) == 0
    copy = tmp_path / SAMPLE.name
    shutil.copy(SAMPLE, copy)
    assert main(["verify", str(copy)]) == 0
    capsys.readouterr()

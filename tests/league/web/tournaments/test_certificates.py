"""Certificates: the result of a finished tournament, signed; none for whoever has no right to one; forged ones are found out."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client

from engine.certificates import signed_bytes
from engine.cli import main
from league.domain.bots import closing, moves
from league.domain.people import bans, players
from league.domain.tournaments import corrections
from league.models import Entry, Match, Tournament
from league.service import changes
from tests.support import league as made


@pytest.fixture
def files(league, reader, tmp_path) -> tuple[Path, Path]:
    """The certificate of the first entry, and the league's key."""
    certificate, key = tmp_path / "cup-0.json", tmp_path / "key.pem"
    certificate.write_bytes(reader.get(f"/t/{league.cup.slug}/certificates/0.json").content)
    key.write_bytes(reader.get("/certificates/key.pem").content)
    return certificate, key


def verify(certificate: Path, key: Path | str) -> int:
    return main(["verify-certificate", str(certificate), "--key", str(key), "--json"])


def test_the_result_is_signed_and_verified_without_the_league(league, reader, files, capsys) -> None:
    entry = league.cup.entries.select_related("version__bot__owner").get(number=0)
    assert verify(*files) == 0
    fields = json.loads(capsys.readouterr().out)
    bot = entry.version.bot
    expected = {"tournament": league.cup.name, "game": "partnership", "bot": bot.slug, "player": bot.owner.name}
    assert expected.items() <= fields.items()
    assert (fields["place"], fields["entries"]) == (entry.place, 3)
    page = reader.get(f"/t/{league.cup.slug}/certificates/0/", headers={"accept-language": "es"}).content.decode()
    for word in (bot.slug, bot.owner.name, league.cup.name, f"puesto <strong>{entry.place}</strong>"):
        assert word in page
    assert fields["address"] == f"http://testserver/t/{league.cup.slug}/certificates/0/"
    assert f"/t/{league.cup.slug}/certificates/0/" in reader.get(f"/t/{league.cup.slug}/").content.decode()


def test_the_key_is_downloaded_from_the_league(league, live_server, tmp_path, capsys) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(Client().get(f"/t/{league.cup.slug}/certificates/1.json").content)
    assert verify(path, f"{live_server.url}/t/{league.cup.slug}/") == 0
    assert main(["verify-certificate", str(path), "--key", "http://127.0.0.1:9"]) == 3
    assert main(["verify-certificate", str(path), "--key", "http://tute.example"]) == 2
    assert "not encrypted" in capsys.readouterr().err


def forged(whole: dict) -> dict:
    other = Ed25519PrivateKey.generate()
    return {**whole, "signature": base64.b64encode(other.sign(signed_bytes(whole["certificate"]))).decode()}


FORGERIES = {
    "another place": lambda whole: {**whole, "certificate": {**whole["certificate"], "place": 1 + whole["certificate"]["place"]}},
    "another field": lambda whole: {**whole, "certificate": {**whole["certificate"], "note": "x"}},
    "beside it": lambda whole: {**whole, "place": 1},
    "another key": forged,
    "no signature": lambda whole: {"certificate": whole["certificate"]},
    "no base64": lambda whole: {**whole, "signature": "ñ"},
    "a list": lambda whole: [whole],
    "a number": lambda whole: {**whole, "certificate": 7},
}  # fmt: skip


@pytest.mark.parametrize("kind", FORGERIES)
def test_a_forged_or_changed_certificate_is_found_out(files, kind, capsys) -> None:
    certificate, key = files
    whole = json.loads(certificate.read_text())
    certificate.write_text(json.dumps(FORGERIES[kind](whole)))
    assert verify(certificate, key) == 1
    assert "problem" in json.loads(capsys.readouterr().out)


def test_what_is_no_certificate_or_key_is_named(files, tmp_path, monkeypatch, capsys) -> None:
    certificate, key = files
    whole, wrong = certificate.read_text(), tmp_path / "wrong"
    twice = whole.replace('"certificate": {', '"certificate": {"place": 1, ', 1)
    for text in ("", "{}", "\0", "[" * 50_000, twice):
        wrong.write_text(text)
        assert verify(wrong, key) == 1
        assert "is no certificate" in capsys.readouterr().out
        assert verify(certificate, wrong) == 1
        assert "is no public key" in capsys.readouterr().out
    other = Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    key.write_bytes(other)
    assert verify(certificate, key) == 1
    assert "forged or changed" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    assert verify(certificate, key) == 1
    assert "tute-league[certificates]" in capsys.readouterr().out


def _disqualify(entry: Entry) -> None:
    corrections.disqualify(entry, "two accounts", player=entry.tournament.owner, now=made.NOW)


def _unplayed(entry: Entry) -> None:
    Match.objects.filter(tournament=entry.tournament).update(status="void")


REASONS = {
    "disqualified": _disqualify,
    "banned": lambda entry: bans.ban(entry.version.bot.owner, why="x", actor="op", now=made.NOW),
    "closed": lambda entry: closing.close(entry.version.bot.owner, now=made.NOW),
    "nothing played": _unplayed,
    "private": lambda entry: Tournament.objects.filter(pk=entry.tournament_id).update(
        opens=made.NOW + timedelta(days=99_999)
    ),
    "running": lambda entry: Tournament.objects.filter(pk=entry.tournament_id).update(status="running"),
}


@pytest.mark.parametrize("reason", REASONS)
def test_who_gets_none(league, reader, reason) -> None:
    entry = league.cup.entries.get(version=league.sol)
    address = f"/t/{league.cup.slug}/certificates/{entry.number}"
    assert reader.get(f"{address}/").status_code == 200
    REASONS[reason](entry)
    assert (reader.get(f"{address}/").status_code, reader.get(f"{address}.json").status_code) == (404, 404)
    for other in (
        f"/t/{league.cup.slug}/certificates/99/",
        f"/t/{league.cup.slug}/certificates/{10**30}/",
        "/t/x/certificates/0/",
    ):
        assert reader.get(other).status_code == 404


def test_what_changes_while_a_page_is_read_outdates_it(league, reader, monkeypatch) -> None:
    """The counters are read before the data; otherwise the response cache would repeat what somebody has just withdrawn."""
    read = changes.read

    def withdraw_and_read(keys: Sequence[str]) -> changes.Counts:
        Tournament.objects.filter(pk=league.cup.pk).update(opens=made.NOW + timedelta(days=99_999))
        return read(keys)

    monkeypatch.setattr(changes, "read", withdraw_and_read)
    address = f"/t/{league.cup.slug}/certificates/0/"
    assert reader.get(address, **{changes.TICKET: changes.Ticket()}).status_code == 404


def test_names_are_those_of_the_end(league, reader) -> None:
    """A bot that was handed on brings its new owner no certificate of what the former one reached."""
    entry = league.cup.entries.get(version=league.sol)
    former, receiver = entry.version.bot.owner, players.create("nadia", now=made.NOW)
    address = f"/t/{league.cup.slug}/certificates/{entry.number}.json"
    moves.offer(entry.version.bot, "nadia", player=former, now=made.NOW)
    moves.accept(entry.version.bot, player=receiver, now=made.NOW + timedelta(days=1))
    assert reader.get(address).json()["certificate"]["player"] == former.name
    bans.ban(receiver, why="x", actor="op", now=made.NOW)
    assert reader.get(address).status_code == 200
    bans.ban(former, why="x", actor="op", now=made.NOW)
    assert reader.get(address).status_code == 404

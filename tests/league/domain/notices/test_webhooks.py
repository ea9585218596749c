"""Webhooks: each event is stored once and arrives at least once, signed, at public addresses only."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.db import connection

from engine.packages.addresses import is_public
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.notices import webhooks
from league.domain.people import bans
from league.domain.tournaments import progress
from league.models import Delivery, LeagueEvent, Match, Notice, Player, Tournament, Webhook
from league.service import posting
from league.service.addresses import AddressRefused, public_address
from tests.support.league import NOW, accepted, accepted_by_upload, later, play, started, uploaded


class WebhookListener(ThreadingHTTPServer):
    """A real listener that stores what it gets and answers `status`; `kill`: it first kills this process."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.status, self.kill, self.pause_s = 204, 0, 0.0
        self.log: list[WebhookListener] = []  # The listeners of all requests, if several share it.
        self.url = f"http://127.0.0.1:{self.server_port}/hook?x=1"

    def bodies(self) -> list[dict]:
        return [json.loads(body) for _, body in self.requests]


class Answer(BaseHTTPRequestHandler):
    """The answer to one request."""

    server: WebhookListener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((dict(self.headers), body))
        self.server.log.append(self.server)
        if self.server.kill:
            os.kill(self.server.kill, signal.SIGKILL)
        time.sleep(self.server.pause_s)
        self.send_response(self.server.status)
        self.send_header("Location", self.server.url)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Be quiet."""


@pytest.fixture
def listener(settings) -> Iterator[WebhookListener]:
    settings.WEBHOOKS_PRIVATE = True
    with listening() as server:
        yield server


@contextmanager
def listening() -> Iterator[WebhookListener]:
    server = WebhookListener()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def hook(player: Player, listener: WebhookListener, *events: str) -> Webhook:
    return webhooks.create(player, listener.url, events or webhooks.EVENTS, now=NOW)


def test_owners_hear_of_their_bots_only(ana, berto, listener) -> None:
    hooks = [hook(ana, listener), hook(berto, listener, webhooks.TOURNAMENT)]
    rufo, lola = accepted_by_upload(ana, "rufo", games=("partnership",), policy="anybody"), accepted(berto, "lola")
    cup = started(ana, [rufo, lola])
    match = Match.objects.get(tournament=cup)
    play(match)
    progress.advance(Tournament.objects.get(pk=cup.pk), now=NOW)
    assert webhooks.run(now=NOW) == len(listener.requests) == 4
    assert sorted((body["event"], body["url"].removeprefix("/api/v1")) for body in listener.bodies()) == [
        ("match.finished", f"/matches/{match.public_id}"),
        ("tournament.finished", f"/tournaments/{cup.slug}"),
        ("tournament.finished", f"/tournaments/{cup.slug}"),
        ("version.accepted", f"/versions/{rufo.pk}"),
    ]
    for headers, body in listener.requests:
        at = headers["Tute-Signature"].partition(",")[0].removeprefix("t=")
        signed = f"{at}.".encode() + body
        proofs = [hmac.new(row.secret.encode(), signed, hashlib.sha256).hexdigest() for row in hooks]
        assert headers["Tute-Signature"] in [f"t={at},v1={proof}" for proof in proofs]
        assert headers["Tute-Delivery"] == json.loads(body)["id"]
    assert [webhooks.run(now=later(seconds)) for seconds in (1, 100, 200)] == [0, 0, 0], "each once"
    assert Webhook.objects.get(pk=hooks[0].pk).seen == LeagueEvent.objects.latest("pk").pk


def test_a_validation_is_one_event_signed_with_the_time_of_sending(ana, listener) -> None:
    hook(ana, listener)
    uploaded(ana, "rufo")
    play(Match.objects.get(kind="validation"))
    before = time.time()
    webhooks.run(now=NOW)
    assert [body["event"] for body in listener.bodies()] == ["version.accepted"]
    headers, _ = listener.requests[0]
    assert int(before) <= int(headers["Tute-Signature"].partition(",")[0].removeprefix("t=")) <= time.time()


def test_withheld_results_give_no_event(ana, berto, listener) -> None:
    hook(berto, listener, webhooks.MATCH, webhooks.TOURNAMENT)
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    Tournament.objects.filter(pk=cup.pk).update(opens=sight.NEVER)
    play(Match.objects.get(tournament=cup))
    assert webhooks.run(now=NOW) == 0
    assert not Delivery.objects.exists()


def test_a_banned_player_hears_nothing_later_either(ana, listener) -> None:
    row = hook(ana, listener)
    webhooks.send_test(row, now=NOW)
    bans.ban(ana, why="x", actor="op", now=NOW)
    version = accepted_by_upload(ana, "rufo", games=("partnership",), policy="anybody")
    assert webhooks.run(now=later(100)) == 0
    assert (
        Webhook.objects.get().seen >= LeagueEvent.objects.get(subject=f"version:{version.pk}", data__to="accepted").pk
    )
    bans.lift(ana, why="x", actor="op", now=later(100))
    assert webhooks.run(now=later(200)) == 1
    assert [body["event"] for body in listener.bodies()] == ["test"]


def test_a_journal_that_was_restored_gives_its_numbers_again(ana, listener) -> None:
    row = hook(ana, listener)
    version = accepted_by_upload(ana, "rufo", games=("partnership",), policy="anybody")
    line = LeagueEvent.objects.filter(subject=f"version:{version.pk}", data__to="accepted")
    for seconds in (0, 5):
        Webhook.objects.filter(pk=row.pk).update(seen=0)
        line.update(at=later(seconds))
        assert webhooks.run(now=later(100)) == 1, "another event has another key"


def test_a_line_that_was_committed_late_is_not_lost(ana, listener, monkeypatch) -> None:
    row = hook(ana, listener)
    version = accepted_by_upload(ana, "rufo", games=("partnership",), policy="anybody")
    line = LeagueEvent.objects.filter(kind="version.moved", subject=f"version:{version.pk}", data__to="accepted")
    line.update(kind="x.x")
    assert webhooks.run(now=later(1)) == 0
    line = LeagueEvent.objects.filter(kind="x.x")
    pk = line.get().pk
    line.update(kind="version.moved")
    monkeypatch.setattr(webhooks, "BATCH", 1)
    assert webhooks.run(now=later(2)) == 1
    assert webhooks.run(now=later(500)) == 0
    assert Webhook.objects.get(pk=row.pk).seen >= pk


def test_pauses_grow_and_end_and_a_failing_webhook_is_switched_off_with_a_notice(ana, listener, monkeypatch) -> None:
    row, listener.status = hook(ana, listener), 302
    webhooks.send_test(row, now=NOW)
    now, gaps = NOW, []
    while (due := Delivery.objects.get().due) is not None:
        gaps.append(due - now)
        webhooks.run(now=due - timedelta(seconds=1))
        now = due
        assert webhooks.run(now=now) == 0
        assert len(listener.requests) == len(gaps), "no redirect is followed, and nothing is sent early"
    assert gaps == [timedelta(0), *webhooks.PAUSES]
    delivery = Delivery.objects.get()
    assert (delivery.status, delivery.tries, delivery.delivered) == (302, len(gaps), None)
    monkeypatch.setattr(webhooks, "MOST_FAILURES", len(gaps) + 1)
    webhooks.send_test(row, now=now)
    webhooks.run(now=now)
    row.refresh_from_db()
    assert row.off == now
    assert Notice.objects.get(player=ana).text == "webhook_off"
    with pytest.raises(Refused):
        webhooks.send_test(row, now=now)
    webhooks.switch_on(row)
    listener.status = 200
    webhooks.send_test(row, now=now)
    assert webhooks.run(now=now + timedelta(hours=1)) == 1, "what waited meanwhile is not sent"
    assert Webhook.objects.get().failures == 0


@pytest.mark.parametrize("url", ["http://[::a]/", "http://[::a]?x", "http://a..b/", "http://127.0.0.1:1/"])
def test_an_address_that_nobody_can_reach_delays_nobody_else(ana, berto, listener, url: str) -> None:
    dead, quick = webhooks.create(ana, url, webhooks.EVENTS, now=NOW), hook(berto, listener)
    for row in (dead, quick):
        webhooks.send_test(row, now=NOW)
    assert webhooks.run(now=NOW) == 1
    assert Delivery.objects.get(webhook=dead).problem.startswith("no answer")


def test_slow_listeners_delay_only_their_own_player(ana, berto, listener) -> None:
    with listening() as slow:
        slow.pause_s, slow.log = 1.0, listener.log
        for row in (hook(ana, slow), hook(ana, slow), *[hook(berto, listener)] * 4):
            webhooks.send_test(row, now=NOW)
        assert webhooks.run(now=NOW) == 6
    assert listener.log[:5].count(listener) == 4, "before the second delivery of the slow ones"


def test_an_answer_may_take_longer_than_connecting(ana, listener, monkeypatch) -> None:
    monkeypatch.setattr(posting, "CONNECT_S", 0.2)
    listener.pause_s = 0.5
    webhooks.send_test(hook(ana, listener), now=NOW)
    assert webhooks.run(now=NOW) == 1


def test_a_silent_listener_delays_nobody_else(ana, berto, listener, monkeypatch) -> None:
    monkeypatch.setattr(posting, "ALL_S", 0.5)
    quick = hook(berto, listener)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dead = webhooks.create(ana, f"http://127.0.0.1:{silent.getsockname()[1]}/", webhooks.EVENTS, now=NOW)
        for row in (dead, quick):
            webhooks.send_test(row, now=NOW)
        assert webhooks.run(now=NOW) == 1
    assert Delivery.objects.get(webhook=dead).problem.startswith("no answer")


@pytest.mark.django_db(transaction=True)
def test_a_sender_that_is_killed_sends_again_with_the_same_key(ana, listener) -> None:
    webhooks.send_test(hook(ana, listener), now=NOW)
    connection.close()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)  # Until the listener knows whom to kill.
        webhooks.run(now=NOW)
        os._exit(1)
    listener.kill = child
    os.write(write, b"x")
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    listener.kill = 0
    os.close(read)
    os.close(write)
    assert webhooks.run(now=later(1)) == 0, "it is claimed"
    assert webhooks.run(now=later(121)) == 1
    first, second = listener.bodies()
    assert first == second
    assert Delivery.objects.get().delivered == later(121)


WRONG = (
    *(
        "",
        "x",
        "http://example.org/",
        "ftp://example.org/",
        "https://",
        "https://a:b@example.org/",
        "https://:b@example.org/",
        "https://x.org:0x/",
    ),
    *(
        "https://exa mple.org/",
        "https://x.org/\x00",
        "https://x.org/\r\nX: y",
        f"https://x.org/{'x' * 500}",
        "https://ñ.es/",
    ),
)


def test_what_a_webhook_may_be(ana) -> None:
    for url in WRONG:
        with pytest.raises(Refused):
            webhooks.create(ana, url, webhooks.EVENTS, now=NOW)
    for events in ([], ["x"], ["test"], [*webhooks.EVENTS, "x"]):
        with pytest.raises(Refused):
            webhooks.create(ana, "https://example.org/", events, now=NOW)
    for _ in range(webhooks.MOST):
        row = webhooks.create(ana, "https://example.org/", webhooks.EVENTS, now=NOW)
    with pytest.raises(Refused):
        webhooks.create(ana, "https://example.org/", webhooks.EVENTS, now=NOW)
    for _ in range(webhooks.TESTS):
        webhooks.send_test(row, now=NOW)
    with pytest.raises(Refused):
        webhooks.send_test(row, now=NOW)


PRIVATE = """127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 240.0.0.1
    ::1 :: fe80::1 fc00::1 ff02::1 ::ffff:10.0.0.1 64:ff9b::a00:1 2002:a00:1::1 2001::1"""


def test_only_public_addresses_are_connected_to(ana) -> None:
    assert [text for text in PRIVATE.split() if is_public(text)] == []
    assert all(is_public(text) for text in ("1.1.1.1", "2606:4700:4700::1111"))
    for host in ("localhost", "127.1", "2130706433", "0x7f.1", "::1", "no.such.host.invalid", "x" * 300, "a..b"):
        with pytest.raises(AddressRefused):
            public_address(host)
    assert public_address("1.1.1.1") == "1.1.1.1"
    webhooks.send_test(webhooks.create(ana, "https://localhost/", webhooks.EVENTS, now=NOW), now=NOW)
    assert webhooks.run(now=NOW) == 0
    assert "not public" in Delivery.objects.get().problem


def test_what_does_not_speak_tls_gets_nothing(settings) -> None:
    settings.WEBHOOKS_PRIVATE = True
    with socket.create_server(("127.0.0.1", 0)) as plain:
        answer = threading.Thread(target=lambda: plain.accept()[0].sendall(b"HTTP/1.0 200 OK\r\n\r\n"), daemon=True)
        answer.start()
        with pytest.raises(posting.PostFailed, match="no safe connection"):
            posting.post(f"https://127.0.0.1:{plain.getsockname()[1]}/", b"", {})

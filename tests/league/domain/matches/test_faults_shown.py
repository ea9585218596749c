"""Misbehaving bots through the whole league: each ends with its typed fault in the API and on the match page, and play goes on."""

from __future__ import annotations

import pytest

from league.domain.bots import bots
from league.domain.people import players
from league.models import BotVersion, Match
from tests.support.league import SECRET
from tests.support.live import LiveLeague

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

ACT = """from tute_bot import Bot, run
{imports}

class Wrong(Bot):
    def act(self, view, legal):
        {deed}
        return legal[0]


run(Wrong())
"""

# name: (what is imported, what it does at its first decision, the fault it ends with, or "" where nothing came of the deed)
DEEDS = {
    "crashes": ("import sys", "sys.exit(7)", "crash"),
    "hangs": ("import sys", "sys.stdin.read()", "timeout"),  # a sleep is over at once where partners sit
    "spins": ("", "exec('while True: pass')", "timeout"),
    # What a bot prints goes to its log; this is the conversation itself.
    "floods": ("import os, tute_bot", "os.write(tute_bot._answers.fileno(), b'x' * 200_000)", "output_flood"),
    "babbles": ("import os, tute_bot", "os.write(tute_bot._answers.fileno(), b'what a hand\\n')", "protocol"),
    "cheats": (
        "",
        "return 'play ' + next(c for c in ('1o', '1c', '1e', '1b') if 'play ' + c not in legal)",
        "illegal_action",
    ),
    "forks": ("import os", "os.fork()", "crash"),
    "calls-out": ("import socket", "socket.socket().connect(('127.0.0.1', 9))", "crash"),
    "reads-passwd": ("", "open('/etc/passwd').read()", "crash"),
    "hoards": ("", "held = [bytearray(16 << 20) for _ in range(200)]", "memory"),
    "behaves": ("", "pass", ""),
}


@pytest.mark.slow
def test_each_misdeed_has_its_fault_where_people_look(live: LiveLeague, client) -> None:
    for name, (imports, deed, _) in DEEDS.items():
        code = ACT.format(imports=imports, deed=deed).encode()
        bots.upload(players.create(f"o-{name}"), name, code, "bot.py", ["partnership"], secret=SECRET)
    live.start("worker")
    live.start("scheduler")
    live.wait_until(lambda: not BotVersion.objects.filter(status="validating").exists(), "the validations", 600)

    faults = dict(BotVersion.objects.values_list("bot__slug", "fault"))
    assert faults == {name: fault for name, (_, _, fault) in DEEDS.items()}, live.logs()
    for name, (_, _, fault) in DEEDS.items():
        version = BotVersion.objects.get(bot__slug=name)
        match = Match.objects.get(kind="validation", parties__version=version, parties__number=0)
        assert (match.status, match.attempts) == ("finished", 1)
        assert version.status == ("rejected" if fault else "accepted")
        answer = client.get(f"/api/v1/matches/{match.public_id}").json()
        assert answer["parties"][0]["fault"] == (fault or None)
        if fault:
            owner = version.bot.owner.user
            client.force_login(owner)
            page = client.get(f"/m/{match.public_id}/").content.decode()
            client.logout()
            assert 'class="chip fault"' in page
            assert version.fault_detail

"""Players for every test of the league. Without passwords: what a test does not need, it does not make."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, user_logged_in
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.middleware.csrf import rotate_token
from django.test import Client
from django.urls import clear_script_prefix
from django.utils import translation
from whitenoise.middleware import WhiteNoiseMiddleware

from league.domain.core import clock
from league.domain.jobs.handlers import analysis, consultations, mistakes, puzzles
from league.domain.people import players, sessions
from league.models import Player
from league.service import limits, listening, process_cache
from tests.support import rows
from tests.support.league import NOW

if TYPE_CHECKING:
    from league.domain.jobs.worker import WorkerLoop


@pytest.fixture(scope="session", autouse=True)
def _few_rounds() -> Iterator[None]:
    """Passwords are hashed as they are in a league, by a thousandth of the rounds, which are half a second of a core each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PBKDF2PasswordHasher, "iterations", 1000)
        yield


@pytest.fixture(scope="session", autouse=True)
def _files_seen_once() -> Iterator[None]:
    """Every client of a test has a middleware of its own, which looks through all static files: the first one looks for all."""
    look, scanned = WhiteNoiseMiddleware.add_files_from_finders, {}

    def add_files(self: WhiteNoiseMiddleware) -> None:
        if self.static_prefix not in scanned:
            others, self.files = self.files, {}
            look(self)
            scanned[self.static_prefix], self.files = self.files, others
        self.files.update(scanned[self.static_prefix])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_files)
        yield


@pytest.fixture(scope="session", autouse=True)
def _signed_in_at_once() -> Iterator[None]:
    """`force_login` stores a session three times and deletes one, for each client: here a new client's session is stored once."""
    log_in = Client._login

    def sign_in(self: Client, user: User, backend: str | None = None) -> None:
        if settings.SESSION_COOKIE_NAME in self.cookies:
            log_in(self, user, backend)
            return
        request = HttpRequest()
        request.session = sessions.SessionStore()
        request.session[SESSION_KEY] = str(user.pk)
        request.session[BACKEND_SESSION_KEY] = backend or self._get_backend()
        request.session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        request.user = user
        rotate_token(request)
        user_logged_in.send(user.__class__, request=request, user=user)
        request.session.save()
        self._set_login_cookies(request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "_login", sign_in)
        yield


@pytest.fixture(autouse=True)
def _no_audits(settings) -> None:
    """They are drawn by lot, and so only where a test asks for them."""
    settings.AUDIT_PERCENT = 0


@pytest.fixture(autouse=True)
def _no_ladders(settings) -> None:
    """They play by themselves, and so only where a test asks for them."""
    settings.LADDERS = False


@pytest.fixture(autouse=True)
def _no_window_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop the clock of the rate limits: their windows would end in the middle of some test."""
    monkeypatch.setattr(limits, "time", SimpleNamespace(time=NOW.timestamp))


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    """Lengthen the time limits of idle work: it has the lowest priority and is slow while other tests run. A test of a limit sets a short one."""
    monkeypatch.setattr(analysis, "SLICE_S", 7200.0)
    for module in (analysis, consultations, mistakes, puzzles):
        monkeypatch.setattr(module, "MOST_S", 72_000.0)
    settings.JUDGE_CPU_S = 7200


@pytest.fixture
def _one_moment(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    """Stop the league's clock, for tests of what changes by the day or the slot."""
    # The beginning of a slot of the broadcast, so that pages in a browser have all of it before them
    now = clock.present().replace(second=1, microsecond=0)
    now -= timedelta(minutes=now.minute % 2)
    monkeypatch.setattr(clock, "present", lambda: now)


@pytest.fixture(autouse=True)
def _no_process_cache() -> None:
    """Clear what is cached of another test's database."""
    process_cache.clear()


@pytest.fixture(autouse=True)
def _no_request() -> Iterator[None]:
    """Leave no language and no prefix of the address of a request behind."""
    yield
    translation.deactivate()
    clear_script_prefix()


@pytest.fixture(autouse=True)
def _no_listener() -> Iterator[None]:
    """The thread that listens has a connection to the database, which no test leaves to the next one."""
    yield
    listening.LISTENER.close()


@pytest.fixture
def ana(db) -> Player:
    """Owns bots."""
    return rows.once(make_ana)


@pytest.fixture
def berto(db) -> Player:
    """Owns other bots."""
    return rows.once(make_berto)


def make_ana() -> Player:
    return players.create("ana", now=NOW)


def make_berto() -> Player:
    return players.create("berto", now=NOW)


@pytest.fixture
def worker() -> Iterator[WorkerLoop]:
    """A worker with a sandbox of its own."""
    from engine.sandbox import Sandbox
    from league.domain.jobs.worker import WorkerLoop
    from tests.support.runtimes import lend

    with TemporaryDirectory(prefix="tute-worker-") as folder:
        Path(folder).chmod(0o755)
        lend(Path(folder))
        new_worker = WorkerLoop(Path(folder) / "bots")
        new_worker.box = Sandbox(tier="auto", state_dir=Path(folder))
        yield new_worker
        new_worker.stopping.set()
        new_worker.tables.close()
        new_worker.remote.close()
        new_worker.ahead.close()

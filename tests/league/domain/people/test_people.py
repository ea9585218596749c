"""Players, tokens and repeated create requests."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db import connection

from league.domain.core import idempotency
from league.domain.core.errors import Refused
from league.domain.people import players, tokens
from league.models import ApiToken, IdempotencyKey, LeagueEvent, Player
from tests.support.league import NOW, later


@pytest.mark.parametrize("name", ["", "Ana", "-ana", "ana-", "a b", "ñandu", "a" * 41, "a/b"])
def test_player_names_are_checked(db, name: str) -> None:
    with pytest.raises(Refused, match="cannot be used"):
        players.create(name, now=NOW)


@pytest.mark.parametrize("name", ["house", "admin", "ana"])
def test_taken_and_reserved_names_are_refused(ana, name: str) -> None:
    with pytest.raises(Refused, match=r"reserved|taken"):
        players.create(name, now=NOW)
    assert Player.objects.count() == 1


def test_player_without_a_password_cannot_log_in(db) -> None:
    assert players.create("ana", now=NOW).user.has_usable_password() is False


def test_player_of_a_hand_made_account_is_made_on_the_way(ana) -> None:
    user = get_user_model().objects.create_user("Ana!")

    player = players.player_of_user(user, now=NOW)

    assert player.name == f"ana-{user.pk}"
    assert players.player_of_user(user, now=NOW) == player
    assert players.player_of_user(ana.user) == ana


def test_token_is_stored_as_a_hash_only(ana) -> None:
    token, key = tokens.create(ana, "laptop", now=NOW)

    row = ApiToken.objects.get()
    assert row.sha256 == hashlib.sha256(key.encode()).hexdigest()
    assert row.prefix == key.removeprefix("tute_")[:8]
    assert key not in str(ApiToken.objects.values().get())
    assert tokens.authenticate(key, now=NOW) == token
    assert tokens.authenticate(key + "x", now=NOW) is None


def test_token_use_is_noted_at_most_every_five_minutes(ana) -> None:
    _, key = tokens.create(ana, "laptop", now=NOW)

    times = []
    for seconds in (0, 60, 301):
        tokens.authenticate(key, now=later(seconds))
        times.append(ApiToken.objects.get().last_used)

    assert times == [NOW, NOW, later(301)]


def test_revoked_tokens_and_closed_accounts_do_not_open(ana) -> None:
    token, key = tokens.create(ana, "laptop", now=NOW)
    _, other = tokens.create(ana, "server", now=NOW)

    tokens.revoke(token, now=NOW)
    tokens.revoke(token, now=later(9))

    assert tokens.authenticate(key, now=NOW) is None
    assert tokens.authenticate(other, now=NOW) is not None
    assert ApiToken.objects.get(pk=token.pk).revoked == NOW
    get_user_model().objects.update(is_active=False)
    assert tokens.authenticate(other, now=NOW) is None


def test_tokens_are_limited_and_labelled(ana) -> None:
    with pytest.raises(Refused, match="label"):
        tokens.create(ana, " ", now=NOW)
    for number in range(tokens.MOST):
        tokens.create(ana, str(number), now=NOW)
    with pytest.raises(Refused, match="revoke one"):
        tokens.create(ana, "one more", now=NOW)


def test_token_expires_and_makes_room(ana) -> None:
    token, key = tokens.create(ana, "laptop", days=30, now=NOW)
    for number in range(tokens.MOST - 1):
        tokens.create(ana, str(number), now=NOW)
    end = NOW + timedelta(days=30)

    assert token.expires == end
    assert tokens.authenticate(key, now=end - timedelta(seconds=1)) is not None
    assert tokens.authenticate(key, now=end) is None
    assert tokens.create(ana, "one more", now=end)[0] in tokens.live(ana, now=end)


@pytest.mark.parametrize(
    ("wrong", "why"), [({"scope": "all"}, "no scope"), ({"days": 0}, "1 to"), ({"days": 9999}, "1 to")]
)
def test_token_of_another_kind_is_refused(ana, wrong, why) -> None:
    with pytest.raises(Refused, match=why):
        tokens.create(ana, "laptop", now=NOW, **wrong)


def test_repeated_request_gets_the_first_answer(ana) -> None:
    sha = idempotency.fingerprint("POST", "/tournaments", b"{}")
    row, fresh = idempotency.begin(ana, "k1", sha, now=NOW)
    assert fresh is True
    idempotency.finish(row, 201, {"slug": "cup"}, "/cup", now=NOW)

    again, fresh = idempotency.begin(ana, "k1", sha, now=NOW)

    assert (fresh, again.status, again.answer, again.location) == (False, 201, {"slug": "cup"}, "/cup")
    with pytest.raises(Refused, match="different request"):
        idempotency.begin(ana, "k1", idempotency.fingerprint("POST", "/tournaments", b"{ }"), now=NOW)


def test_old_keys_are_free_again(ana, berto, django_capture_on_commit_callbacks) -> None:
    rows = [idempotency.begin(ana, key, "a", now=NOW)[0] for key in ("k1", "k2")]
    for row in rows:
        idempotency.finish(row, 201, {}, now=NOW)
    assert idempotency.begin(berto, "k1", "c", now=NOW)[1] is True
    later = NOW + idempotency.KEPT + timedelta(seconds=1)

    with django_capture_on_commit_callbacks(execute=True):
        row, fresh = idempotency.begin(ana, "k1", "d", now=later)
        idempotency.finish(row, 201, {}, now=later)

    assert fresh is True
    assert list(IdempotencyKey.objects.filter(player=ana).values_list("key", flat=True)) == ["k1"]


def test_fingerprint_keeps_parts_apart() -> None:
    assert idempotency.fingerprint("ab", "c") != idempotency.fingerprint("a", "bc")


@pytest.mark.parametrize(
    "taken", ["by an account alone", "by a player whose account has another name", "in this moment"]
)
def test_a_name_is_taken_by_an_account_as_well_as_by_a_player(db, taken: str) -> None:
    users = get_user_model().objects
    if taken == "by an account alone":
        users.create_user("ana")
    elif taken == "by a player whose account has another name":
        Player.objects.create(user=users.create_user("other"), name="ana", created=NOW)
    counts = users.count(), Player.objects.count()

    def meanwhile(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Somebody signs up between the look at the name and its taking."""
        result = execute(sql, params, many, context)
        if taken == "in this moment" and sql.startswith("INSERT") and "takenname" in sql and not users.exists():
            users.create_user("ana")
        return result

    with connection.execute_wrapper(meanwhile), pytest.raises(Refused, match="the name 'ana' is taken; choose another"):
        players.create("ana", now=NOW)

    assert (users.count(), Player.objects.count()) == counts
    assert not LeagueEvent.objects.filter(kind="player.created").exists()

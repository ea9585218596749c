"""The role of the workers can have a table, and reads no secret of one that it has not (docker/grant_roles.py)."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import connection, transaction
from django.db.utils import ProgrammingError

from engine.runner.table import Question, SeatView, TableResult, Taken
from league.domain.bots import house
from league.domain.tables import holding, rooms, seating
from league.models import Job, Package, Table, TableAction, TablePerson
from tests.support.league import NOW, accepted, later
from tests.support.roles import NEEDS_ROLES, become, granted

pytestmark = NEEDS_ROLES


def secret(job: Job) -> bytes | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT league_secret_of_table_job(%s, %s)", [job.pk, job.token])
        value = cursor.fetchone()[0]
        return None if value is None else bytes(value)


def test_the_role_of_the_workers_has_a_table_and_no_more(ana, berto) -> None:
    accepted(house.player(now=NOW), "greedy")
    version = accepted(ana, "rufo")
    row = seating.sit(ana, "partnership", "rufo", "greedy", now=NOW)
    expected = bytes(Table.objects.values_list("secret", flat=True).get(pk=row.pk))
    with granted():
        become("tute_runner")
        packages = Package.objects.filter(pk=version.package_id)
        assert (secret(Job.objects.get()), packages.count()) == (None, 0)
        lease = holding.claim("host:1", now=NOW)
        assert lease is not None
        assert (lease.secret, secret(lease.job)) == (expected, expected)
        assert [seat.version.package_id is not None for seat in holding.seats(lease.row)] == [True] * 3
        lease.beat(now=NOW)
        holding.ask(lease, Question(1, 1, ["play 1o"], ["1o"], [], []), [Taken(1, "play 3c")], now=NOW)
        holding.advise(lease, 1, "play 1o")
        assert holding.rest(lease, 1, now=NOW)
        assert (secret(lease.job), packages.count()) == (None, 0)
        lines, table = TableAction.objects.filter(table=row), Table.objects.filter(pk=row.pk)
        for forbidden in (
            partial(table.values_list("secret", flat=True).get),
            partial(table.update, player=berto),
            partial(lines.update, action="play 4c"),
            lines.delete,
            table.delete,
            partial(TableAction.objects.create, table=row, number=9, seat=0, action="play 1o", at=NOW),
        ):
            with pytest.raises(ProgrammingError, match=r"permission denied|row-level security"), transaction.atomic():
                forbidden()
        assert table.update(turn=None) == 0, "nobody answers for the person"
        become("NONE")
        seating.act(ana, row.public_id, 0, "play 1o", now=NOW)
        become("tute_runner")
        again = holding.claim("host:1", now=NOW)
        assert again is not None
        assert holding.answer(again, 1) == "play 1o"
        holding.finish(again, TableResult([[1, 0, 1, 0]], [{}]), 2, now=NOW)
        assert table.update(reason="x") == 0, "what is over stays as it is"


def test_the_role_of_the_workers_plays_for_somebody_who_is_away(ana, berto) -> None:
    accepted(house.player(now=NOW), "greedy")
    row = rooms.gather(ana, "partnership", time=(30, 0), now=NOW)
    rooms.take_seat(berto, row.public_id, now=NOW)
    rooms.start(ana, row.public_id, now=NOW)
    with granted():
        become("tute_runner")
        lease = holding.claim("host:1", now=NOW)
        assert lease is not None
        question = Question(0, 1, ["play 1o", "play 3o"], ["1o", "3o"], [], [], 1, [SeatView(0, ["2o"], [])], [])
        holding.ask(lease, question, [], now=NOW)
        assert holding.stands_in(lease, question, now=later(30))
        holding.answer_for(lease, question, "play 3o", now=later(30))
        assert holding.answer(lease, 0) == "play 3o"
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            TablePerson.objects.update(player=ana)
        holding.finish(lease, TableResult([[1, 0, 1, 0]], [{}], [SeatView(1, [], [])]), 1, now=later(31))
        assert TablePerson.objects.filter(table=row).update(hand=["1o"]) == 0, "what is over stays as it is"
        assert not TablePerson.objects.filter(seated=True).exists()

"""The database takes no word that the league does not know, whoever writes it."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db import IntegrityError, connection, models, transaction
from django.utils.choices import CallableChoiceIterator

from league.domain.people import tokens
from league.models import (
    Assignment,
    Audit,
    Boss,
    BossTest,
    Case,
    Check,
    ClassMember,
    Comment,
    Consultation,
    EntryRequest,
    Event,
    HandIn,
    Job,
    JudgedSum,
    Judgement,
    Match,
    Notice,
    NoticeChoice,
    Report,
    SchoolClass,
    Subscription,
    Table,
    TableChallenge,
    Team,
    TeamMember,
    Tuning,
    VersionTest,
)
from tests.support.league import NOW, accepted, play, started


def word_columns() -> Iterator[tuple[type[models.Model], models.Field]]:
    """Every column with a closed list of words. The formats of tournaments follow from code and are open: a new one needs no migration."""
    for model in apps.get_app_config("league").get_models(include_auto_created=True):
        for field in model._meta.concrete_fields:
            if field.choices and not isinstance(field.choices, CallableChoiceIterator):
                yield model, field


def allows(model: type[models.Model], field: models.Field, word: str) -> bool:
    table, column, key = model._meta.db_table, field.column, model._meta.pk.column
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} SET {column} = %s WHERE {key} = (SELECT min({key}) FROM {table})", [word])
            assert cursor.rowcount == 1, f"no row of {table} to try it on"
            transaction.set_rollback(True)
    except IntegrityError:
        return False
    return True


def test_every_column_of_words_refuses_another(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")])
    match = play(cup.matches.get())
    version = match.parties.get(number=0).version
    work = Match(pool=match.pool, public_id="a", key="a", kind="audit", secret=b"", boards_planned=1, created=NOW)
    work.save()
    audit = {"match": match, "sitting": 0, "seat": 0, "version": version, "reason": "sample", "created": NOW}
    Audit.objects.create(work=work, **audit)
    Case.objects.create(
        pool=match.pool, loser=ana, winner=berto, boards=40, points=2, expected=20, deviations=5, created=NOW
    )
    Check.objects.create(version=version, match=match, game="partnership", name="boards")
    Judgement.objects.create(match=match, kind="open", judge="open-1", created=NOW)
    JudgedSum.objects.create(version=version, pool=match.pool, kind="open", judge="open-1", phase="")
    place = {"board": 1, "sitting": 0, "seat": 0}
    Consultation.objects.create(match=match, version=version, created=NOW, **place)
    tokens.create(ana, "laptop", now=NOW)
    Event.objects.create(slug="a", owner=ana, document={}, secret=b"", created=NOW)
    EntryRequest.objects.create(bot=version.bot, asker=berto, tournament=cup, created=NOW)

    seat = {"player": ana, "pool": match.pool, "boards": 1, "secret": b"", "created": NOW, "since": NOW}
    table = Table.objects.create(public_id="a", **seat)
    Job.objects.create(kind="table", table=table, created=NOW)
    TableChallenge.objects.create(table=table, challenger=ana, player=berto, created=NOW)

    Notice.objects.create(player=ana, kind="failed", about="a", created=NOW)
    NoticeChoice.objects.create(player=ana, kind="failed", way="site")
    Subscription.objects.create(player=ana, address="ana@example.org", period="day")
    VersionTest.objects.create(game="partnership", version=version, before=version, begun=NOW)
    Tuning.objects.create(
        player=ana, version=version, game="partnership", begun=NOW, parameters=[], values={}, boards=400
    )
    boss = Boss.objects.create(game="partnership", season=1, league=0, version=version, secret=b"")
    BossTest.objects.create(game="partnership", version=version, opponent=version, boss=boss, attempt=1, begun=NOW)
    group = SchoolClass.objects.create(slug="a", name="A", places=30, created=NOW)
    student = ClassMember.objects.create(school_class=group, player=ana, role="student", name="Ana", joined=NOW)
    marks = {"attempts": 1, "marks": 10, "clean_marks": 0, "place_marks": 0, "late_percent": 0, "is_extra": False}
    task = Assignment.objects.create(
        school_class=group, number=1, pool=match.pool, rival=version, rule="better", secret=b"",
        opens=NOW, due=NOW, created=NOW, **marks,
    )  # fmt: skip
    HandIn.objects.create(
        assignment=task, member=student, attempt=1, version=version, created=NOW, is_late=False, verdict="passed"
    )
    team = Team.objects.create(name="a", created=NOW)
    TeamMember.objects.create(team=team, player=ana, role="owner", invited=NOW)
    comment = Comment.objects.create(author=ana, tournament=cup, text="a", created=NOW)
    Report.objects.create(comment=comment, reporter=berto, reason="insult", created=NOW)

    columns = list(word_columns())
    assert len(columns) >= 15
    for model, field in columns:
        assert not allows(model, field, "banana"), field
        assert allows(model, field, "") == field.blank, field
        for word in field.choices:
            assert allows(model, field, word[0]), (field, word)
    if connection.vendor == "postgresql":  # they were added without a look at the rows, then looked at them
        with connection.cursor() as cursor:
            cursor.execute("SELECT conname FROM pg_constraint WHERE NOT convalidated")
            assert cursor.fetchall() == []

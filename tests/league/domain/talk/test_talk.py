"""Comments: who may read and write where, what is stored of a text, and what staff and blocks do."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from league.domain.bots import closing, consent
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import embargoes
from league.domain.operators import acting
from league.domain.people import bans, exporting, players, subscriptions
from league.domain.puzzles import answers, shelf
from league.domain.talk import comments, places, reports
from league.domain.tournaments import events, releases
from league.enums import Audience
from league.models import Comment, FoundPuzzle, Match, Notice, Player, Report, Subscription, Tournament
from league.pure import comments as texts
from league.web.people import notice_words
from tests.support import league as made
from tests.support import rows

LATE = made.NOW + timedelta(days=30)
BY = {"why": "a test", "actor": "operator", "now": LATE}


@pytest.fixture
def cup(ana, berto) -> Tournament:
    """Ana's cup with one finished match; Ana and Berto are old enough to write."""
    return rows.once(make_cup, ana, berto)


def make_cup(ana: Player, berto: Player) -> Tournament:
    cup = made.started(ana, [made.accepted(ana, "rufo"), made.accepted(berto, "luna")])
    made.play(cup.matches.get())
    return cup


def at_match(cup: Tournament, viewer: Player | None) -> places.Place:
    place = places.find(f"match:{cup.matches.get().public_id}:1:0", viewer)
    assert place is not None
    return place


def write(player: Player, place: places.Place, text: str = "Well played", **more) -> Comment:
    return comments.write(player, place, text, **{"now": LATE, **more})


def shown(place: places.Place, viewer: Player | None) -> list[str]:
    return [row.text for row in places.comments(place, viewer).order_by("-id")]


def test_a_text_is_plain_visible_and_short() -> None:
    clean = {
        "  a \t b\r\n\r\n\n\n c\u2028d ": "a b\n\nc\nd",
        "safe \u202egnp.exe \u2066x\u2069\u200b\x07\x1b[31m": "safe gnp.exe x[31m",
        "z" + "\u0301\u0302\u0303\u0304\u0305\u0306" * 9: "\u017a\u0302\u0303\u0304\u0305",
        "<script>[Rb] & 'x'": "<script>[Rb] & 'x'",
    }
    assert {text: texts.clean(text, 1000) for text in clean} == clean
    for text, why in (("\u200b \n", "Write something"), ("x" * 1001, "1001 characters"), ("a\n" * 31, "31 lines")):
        with pytest.raises(texts.BadText, match=why):
            texts.clean(text, 1000)


def test_who_may_write(cup, ana, berto, settings) -> None:
    settings.MAIL = True
    place = at_match(cup, None)
    new = players.create("nadia", now=LATE)
    with pytest.raises(Refused, match="after 24 hours"):
        write(new, place)
    with pytest.raises(Refused, match=r"confirmed email address.* after 72 hours"):
        write(new, place, now=LATE + timedelta(hours=25))
    new.user.email = "nadia@example.org"
    Subscription.objects.create(player=new, address=new.user.email, confirmed=LATE)
    assert subscriptions.is_confirmed(subscriptions.find(new), new.user.email)
    write(new, place, now=LATE + timedelta(hours=25))
    bans.ban(berto, **BY)
    with pytest.raises(Refused, match="banned"):
        write(berto, place)
    settings.TALK = False
    with pytest.raises(Refused, match="no comments here"):
        write(ana, place)
    assert places.find(place.name, ana) is None


def test_limits(cup, ana, settings) -> None:
    settings.QUOTA_COMMENTS = 2
    place = at_match(cup, ana)
    first = write(ana, place, "one")
    with pytest.raises(Refused, match="same comment"):
        write(ana, place, " one\u200b ")
    comments.delete(ana, first, now=LATE)
    write(ana, place, "one")
    with pytest.raises(TooMany, match="2 comments in the last hour"):
        write(ana, place, "three")
    write(ana, place, "three", now=LATE + timedelta(hours=2))


def test_steps_are_those_of_the_sitting(cup, ana) -> None:
    place = at_match(cup, ana)
    assert write(ana, place, "at a step", step="d1p3").step == "d1p3"
    for step in ("d1p9999", "d9p0", "d1", "x" * 40, "d01p3", "d1p3\n"):
        with pytest.raises(Refused, match="no such step"):
            write(ana, place, step, step=step)
    with pytest.raises(Refused, match="no such step"):
        write(ana, places.Place(tournament=cup), "elsewhere", step="d1p3")


def test_hidden_places_are_not_found(cup, ana, berto, settings) -> None:
    match = cup.matches.get()
    name = f"match:{match.public_id}:1:0"
    wrong = (
        "match:zzz:1:0",
        f"match:{match.public_id}:9:0",
        f"match:{match.public_id}:1:²",
        "event:",
        "x:y",
        "\0",
        name + ":0",
    )
    assert [places.find(text, ana) for text in wrong] == [None] * len(wrong)
    write(ana, at_match(cup, ana))
    embargoes.change(cup, LATE + timedelta(days=40_000), **BY)
    assert places.find(name, berto) is None, "withheld"
    embargoes.change(cup, None, **BY)
    assert places.find(name, berto)
    Match.objects.update(status="running")
    assert places.find(name, ana) is None, "in play"
    document = {"name": "Quiet", "game": "partnership", "stages": [{"format": "round_robin", "boards": 2}]}
    terms = releases.ReleaseTerms(Audience.HIDDEN)
    versions = [bot.versions.get() for owner in (ana, berto) for bot in owner.bots.all()]
    event = events.create(ana, document, versions, terms=terms, now=made.NOW)
    stage = event.tournaments.get()
    assert [bool(places.find(f"event:{event.slug}", viewer)) for viewer in (None, berto, ana)] == [False, False, True]
    assert places.find(f"tournament:{stage.slug}", ana) is None, "the event has the comments of its stages"


def test_a_puzzle_is_talked_about_after_an_answer(cup, ana, berto) -> None:
    item = next(iter(shelf.shelf().by_id.values()))
    assert places.find(f"puzzle:{item.id}", ana) is None
    answers.answer(item, item.best[0], ana, now=LATE)
    place = places.find(f"puzzle:{item.id}", ana)
    assert place
    write(ana, place)
    assert [places.find(place.name, viewer) for viewer in (None, berto)] == [None, None]


def test_a_comment_is_about_one_thing(cup, ana) -> None:
    match = cup.matches.get()
    about = [{}, {"match": match}, {"puzzle": "x", "tournament": cup}, {"tournament": cup, "step": "d1p1"}]
    for columns in about:
        with pytest.raises(IntegrityError), transaction.atomic():
            Comment.objects.create(author=ana, text="x", created=LATE, **columns)


def test_answers_and_blocks(cup, ana, berto) -> None:
    place = at_match(cup, ana)
    first = write(ana, place, "a question", step="d1p3")
    answer = write(berto, place, "an answer", answers=first)
    assert (answer.step, answer.answers) == ("d1p3", first)
    with pytest.raises(Refused, match="no longer here"):
        write(berto, places.Place(tournament=cup), "elsewhere", answers=first)
    consent.block(ana, "berto", now=LATE)
    assert [shown(place, viewer) for viewer in (ana, berto, None)] == [
        ["a question"],
        ["an answer"],
        ["an answer", "a question"],
    ]
    with pytest.raises(Refused, match="ana does not want answers from you"):
        write(berto, place, "again", answers=first)
    with pytest.raises(Refused, match="owner of this tournament"):
        write(berto, places.Place(tournament=cup))
    consent.unblock(ana, "berto", now=LATE)
    write(berto, place, "again", answers=first)
    Tournament.objects.update(talk=False)
    cup.refresh_from_db()
    assert places.find(f"tournament:{cup.slug}", berto) is None


def texts_of(player: Player) -> dict[str, int]:
    return dict(Notice.objects.filter(player=player).values_list("text", "count"))


def test_owners_and_the_answered_hear_of_comments_unless_they_block(cup, ana, berto, monkeypatch) -> None:
    place, cira = at_match(cup, ana), players.create("cira", now=made.NOW)
    first = write(ana, place, "a question")
    assert (texts_of(ana), texts_of(berto)) == ({}, {"commented_match": 1}), "nobody hears of their own"
    write(berto, place, "an answer", answers=first)
    write(cira, place, "another", answers=first)
    write(cira, places.Place(tournament=cup), "nice")
    write(cira, places.Place(tournament=cup), "very nice")
    assert texts_of(ana) == {"answered": 2, "commented": 2}, "an answer is not told twice"
    assert texts_of(berto) == {"commented_match": 2}
    match = cup.matches.get()
    puzzle = FoundPuzzle.objects.create(puzzle="p" * 12, match=match, created=made.NOW, line="")
    write(cira, places.Place(puzzle=puzzle.puzzle), "easy")
    assert "commented_puzzle" in texts_of(ana)
    for notice in Notice.objects.all():
        assert notice_words.sentence(notice)
        assert notice_words.address(notice).endswith("#talk")

    Notice.objects.all().delete()
    consent.block(ana, "cira", now=LATE)
    write(cira, place, "are you there?")
    assert (texts_of(ana), texts_of(berto)) == ({}, {"commented_match": 1})
    monkeypatch.setattr(places, "find", lambda name, viewer: None)  # The result is withheld from them by now.
    Notice.objects.all().delete()
    write(cira, place, "is anybody?")
    assert not Notice.objects.exists()


def test_a_decision_reaches_the_author_and_those_who_reported(cup, ana, berto) -> None:
    comment = write(ana, at_match(cup, ana), "rude")
    Notice.objects.all().delete()
    reports.report(berto, comment, "insult", now=LATE)
    comments.leave(comment, actor="judge", now=LATE)
    assert (texts_of(ana), texts_of(berto)) == ({}, {"report_left": 1})
    comments.hide(comment, **BY)
    assert texts_of(ana) == {"comment_hidden": 1}
    [notice] = Notice.objects.filter(player=ana)
    assert notice_words.sentence(notice) == "An operator hid your comment: a test."
    assert notice_words.address(notice) == f"/talk/{comment.pk}/"


def test_operators_hide_show_and_leave(cup, ana, berto) -> None:
    place = at_match(cup, ana)
    comment = write(ana, place, "rude")
    with pytest.raises(Refused, match="is yours"):
        reports.report(ana, comment, "insult")
    for _ in range(2):
        reports.report(berto, comment, "insult", now=LATE)
    cira = players.create("cira", now=made.NOW)
    reports.report(cira, comment, "spam", now=LATE)
    assert [(row.pk, row.count) for row in reports.reported()] == [(comment.pk, 2)]
    judge = players.create("judge", staff=True, now=made.NOW)
    with pytest.raises(Refused, match="needs the right 'moderate'"):
        acting.act("hide", [f"comment:{comment.pk}"], {}, why="rude", operator=judge)

    def act(name: str) -> list[str]:
        outcome = acting.act(name, [f"comment:{comment.pk}"], {}, why="it is rude", operator=None, now=LATE)
        comment.refresh_from_db()
        return [str(effect) for effect in outcome.effects]

    assert act("hide")
    assert (comment.hidden_for, comment.hidden_by) == ("it is rude", "operator")
    assert act("hide") == []
    assert [shown(place, viewer) for viewer in (None, berto, ana)] == [[], [], ["rude"]]
    assert list(reports.reported()) == []
    assert set(Report.objects.values_list("outcome", flat=True)) == {"hidden"}
    assert act("show")
    assert shown(place, None) == ["rude"]
    assert [row.count for row in reports.reported()] == [2], "the undo opens them again"
    assert act("leave")
    assert act("leave") == []
    assert list(reports.reported()) == []


def test_a_reported_comment_can_be_judged_after_its_deletion(cup, ana, berto) -> None:
    comment = write(ana, at_match(cup, ana), "rude")
    reports.report(berto, comment, "insult", now=LATE)
    with pytest.raises(Refused, match="Only its author"):
        comments.delete(berto, comment)
    comments.delete(ana, comment, now=LATE)
    comment.refresh_from_db()
    assert (comment.text, shown(at_match(cup, None), None)) == ("", [])
    assert [row.reports.get().text for row in reports.reported()] == ["rude"]
    bans.ban(ana, **BY)
    assert list(reports.reported()) == []


def test_comments_of_banned_players_return_with_them(cup, berto) -> None:
    place = at_match(cup, None)
    write(berto, place)
    bans.ban(berto, **BY)
    assert shown(place, None) == []
    bans.lift(berto, **BY)
    assert len(shown(place, None)) == 1


def test_closing_an_account_removes_its_words(cup, ana, berto) -> None:
    place = at_match(cup, None)
    first = write(berto, place, "my secret")
    write(ana, place, "I see", answers=first)
    reports.report(ana, first, "other", now=LATE)
    lists = {name: list(lines) for name, lines in exporting._lists(berto)}
    assert [line["text"] for line in lists["comments"]] == ["my secret"]
    assert [line["reason"] for line in dict(exporting._lists(ana))["reports"]] == ["other"]
    closing.close(berto, now=LATE)
    assert shown(place, None) == ["I see"]
    assert not Comment.objects.filter(text="my secret").exists()
    assert not Report.objects.filter(text="my secret").exists()
    assert list(reports.reported()) == []

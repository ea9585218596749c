"""A closed account: no row names its owner, nothing private is left, and neither tournaments nor ratings notice."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from engine.runner.table import Question
from league.domain.bots import bots, challenges, closing, drafts, house, teams, tries
from league.domain.core import journal, names
from league.domain.core.errors import Refused
from league.domain.judgements import asking
from league.domain.matches import holds
from league.domain.notices import notifying, spreading, ways
from league.domain.people import exporting, players, subscriptions, tokens
from league.domain.people.sessions import SessionStore
from league.domain.tables import holding, seating
from league.domain.tournaments import events, progress, tournaments
from league.enums import BotState, ClassRole, MatchStatus, RequestStatus, TournamentStatus
from league.models import (
    Block,
    Bot,
    BotOffer,
    BotVersion,
    Comment,
    EntryRequest,
    LeagueEvent,
    Match,
    Player,
    SchoolClass,
    Solver,
    Table,
    TableChallenge,
    Tournament,
)
from tests.support.league import NOW, accepted, later, play, started, uploaded

NAME = "maria-luisa"
MOST_PAGES = 80
DOCUMENT = {
    "name": "League of May",
    "game": "partnership",
    "stages": [{"format": "round_robin", "boards": 1}],
}
MAY_NAME = {"LeagueEvent", "TakenName"}  # The journal, and the name that nobody may take.


@pytest.fixture
def maria(berto) -> Player:
    """Create a player with a row in every table that names a player or is private."""
    maria = players.create(NAME, password="a long password", email=f"{NAME}@example.org", now=NOW)
    accepted(house.player(now=NOW), "greedy")
    theirs = accepted(berto, "trufo")
    accepted(maria, "rufa")
    tokens.create(maria, f"laptop of {NAME}", now=NOW)
    drafts.save(maria, drafts.NEW, f"# by {NAME}", now=NOW)
    tries.begin(maria, f"# by {NAME}", "partnership", "greedy", name=NAME, now=NOW)
    subscriptions.ask(maria, language="es", site="https://league.example", now=NOW)
    Block.objects.create(owner=berto, blocked=maria, created=NOW)
    cup = tournaments.create(maria, "Cup", "partnership", boards=1, now=NOW)
    EntryRequest.objects.create(
        bot=theirs.bot, asker=maria, tournament=cup, message=f"please, {NAME}", created=NOW, status=RequestStatus.ASKED
    )
    store = SessionStore()
    store.update({"_auth_user_id": str(maria.user_id)})
    store.save()
    return maria


def rows_with(text: str) -> Iterator[str]:
    """Yield the table of each row that has the text in a column, compressed or not."""
    for model in apps.get_models():
        for row in model._base_manager.values():
            if any(text in readable(value) for value in row.values()):
                yield model.__name__


def readable(value: object) -> str:
    if isinstance(value, bytes | memoryview):
        with suppress(zlib.error):
            return zlib.decompress(bytes(value)).decode(errors="replace")
        return bytes(value).decode(errors="replace")
    return str(value)


# The file of a player's own data that has the rows of each table about people.
EXPORTED = {
    **dict.fromkeys(
        ("Player", "SessionOwner", "Quota", "Subscription", "Passkey", "ApiToken", "Webhook"), "account.json"
    ),
    "NoticeChoice": "account.json",
    "Bot": "bots.jsonl",
    "BotVersion": "versions.jsonl",
    **dict.fromkeys(("Tournament", "Event", "Circuit", "ArenaEntry"), "contests.jsonl"),
    "Guest": "events.jsonl",
    "Match": "matches.jsonl",
    "ClassMember": "classes.jsonl",
    "EntryRequest": "requests.jsonl",
    "Block": "blocks.jsonl",
    "Draft": "drafts.jsonl",
    "GitLink": "git.jsonl",
    "Fetch": "fetches.jsonl",
    "Tuning": "tunings.jsonl",
    "Study": "studies.jsonl",
    **dict.fromkeys(("Judgement", "Consultation"), "analyses.jsonl"),
    **dict.fromkeys(("Table", "TablePerson"), "tables.jsonl"),
    "TableChallenge": "challenges.jsonl",
    "Follow": "follows.jsonl",
    "Notice": "notices.jsonl",
    "PuzzleAnswer": "puzzles.jsonl",
    "Solver": "account.json",
    "Mistake": "mistakes.jsonl",
    "MistakeSearch": "analyses.jsonl",
    "Comment": "comments.jsonl",
    "Report": "reports.jsonl",
    "TeamMember": "teams.jsonl",
    "BotOffer": "offers.jsonl",
    "Try": "tries.jsonl",
}
NOT_EXPORTED = {
    "LogEntry": "the admin changes nothing, so the table is empty",
    "Job": "work in progress, removed with its subject",
    "IdempotencyKey": "repeats the answers to the player's own requests, for a day",
    "CoOwner": "follows from the teams",
    "Case": "a suspicion that only operators know",
}


def test_each_table_about_people_is_exported_or_has_a_reason_not_to_be() -> None:
    about_people = {
        model.__name__
        for model in apps.get_models()
        for column in model._meta.concrete_fields
        if column.related_model in (Player, User)
    }
    assert about_people == {*EXPORTED, *NOT_EXPORTED}
    names_of_operators = {
        (model, column.name)
        for model in apps.get_models()
        for column in model._meta.concrete_fields
        if column.name.endswith("_by") and column.get_internal_type() == "CharField"
    }
    assert names_of_operators == set(closing.DECIDED_BY)


def fill_tables(maria: Player, berto: Player) -> None:
    """Add rows about Maria to the tables that the fixture leaves empty."""
    trufo, rufa, greedy = (BotVersion.objects.get(bot__slug=slug) for slug in ("trufo", "rufa", "greedy"))
    cup = Tournament.objects.get()
    maria.quotas.create(name="bots", value=50)
    maria.webhooks.create(url=f"https://{NAME}.example", secret="x", events=[], created=NOW, seen=0)
    maria.passkeys.create(name=f"phone of {NAME}", credential="x", public_key=b"", created=NOW)
    ways.choose(maria, {"talk": "never"}, now=NOW)
    event = events.create(berto, DOCUMENT, [], wait=True, entrance="anybody", now=NOW)
    event.guests.create(player=maria, created=NOW)
    match = play(started(berto, [rufa, trufo], name="Their cup").matches.get())
    challenges.challenge(maria, rufa, [greedy], "partnership", now=NOW)
    asking.ask(match, "open", maria, now=NOW)
    row = SchoolClass.objects.create(slug="1a", name="1 A", places=30, created=NOW)
    row.members.create(player=maria, role=ClassRole.STUDENT, name="María Luisa", joined=NOW)
    comment = Comment.objects.create(author=maria, tournament=cup, text=f"{NAME} was here", created=NOW)
    answer = Comment.objects.create(author=berto, tournament=cup, answers=comment, text="really?", created=NOW)
    answer.reports.create(reporter=maria, reason="insult", created=NOW)
    Comment.objects.filter(pk=answer.pk).update(hidden=NOW, hidden_by=NAME)  # She was an operator once.
    journal.append("operator.acted", f"comment:{answer.pk}", now=NOW, actor=NAME)
    table = Table.objects.create(
        public_id="t", player=berto, pool=match.pool, boards=1, secret=b"", created=NOW, since=NOW
    )
    TableChallenge.objects.create(table=table, challenger=berto, player=maria, created=NOW)
    maria.puzzle_answers.create(puzzle="p1", game="tute", answer="play 1o", solved=True, created=NOW)
    Solver.objects.create(player=maria, zone=f"Sea/{NAME}")
    search = maria.mistake_searches.create(table=table, created=NOW)
    maria.mistakes.create(search=search, puzzle="p1", line=f"{NAME} played", created=NOW)
    maria.follows.create(bot=trufo.bot, created=NOW)
    berto.follows.create(person=maria, created=NOW)
    Block.objects.create(owner=maria, blocked=players.create("nemo", now=NOW), created=NOW)
    team = teams.create(berto, "tute", now=NOW)
    teams.invite(team, NAME, "reader", player=berto, now=NOW)
    teams.put_in(team, trufo.bot, player=berto, now=NOW)
    BotOffer.objects.create(bot=accepted(berto, "regalo").bot, receiver=maria, created=NOW)
    maria.git_links.create(bot=rufa.bot, url=f"https://git.example/{NAME}/rufa", created=NOW)
    maria.fetches.create(bot_name="rufa", url=f"https://git.example/{NAME}/rufa", tag="v1", created=NOW)
    maria.studies.create(key="k", game="a_dos", revision=1, players=2, options={}, inputs={}, boards=64, begun=NOW)
    maria.tunings.create(game="a_dos", version=rufa, parameters=[], values={}, boards=400, begun=NOW)
    notifying.notify([maria], "stopped", "x", now=NOW, bot="rufa")
    notifying.notify([berto], "challenged", "y", now=NOW, actor=maria, bot="trufo", player=NAME, match="x")
    spreading.run(now=NOW)


def test_a_zip_before_and_no_trace_after(maria, berto) -> None:
    fill_tables(maria, berto)
    seating.sit(maria, "partnership", "greedy", boards=1, now=NOW)
    target = io.BytesIO()
    exporting.write(maria, target, site="https://league.example")
    packed = zipfile.ZipFile(target)
    assert {name for name in EXPORTED.values() if not packed.read(name).strip()} == set()

    closing.close(maria, now=later(60))
    spreading.run(now=later(61))

    assert set(rows_with(NAME)) <= MAY_NAME


@pytest.mark.slow
def test_no_page_names_a_player_who_has_left(maria, berto, client) -> None:
    fill_tables(maria, berto)
    rooms = {"/": "", "/api/v1/": ""}
    client.force_login(berto.user)
    assert NAME in client.get("/players/").content.decode()
    closing.close(maria, now=later(60))
    spreading.run(now=later(61))
    for reader in (client, Client()):
        assert list(crawl(reader, dict(rooms))) == []


def crawl(client: Client, rooms: dict[str, str]) -> Iterator[str]:
    """Yield the addresses of pages with the name, among all that links lead to; documents and operators' pages aside."""
    queue = list(rooms)
    for path in queue:
        answer = client.get(path)
        text = b"".join(answer).decode(errors="replace")
        if NAME in text:
            yield path
        for link in re.findall(r'(?:href="|"https?://testserver)(/[^"#]*)', text.replace("&amp;", "&")):
            is_aside = re.match(r"/(docs|static|accounts/logout|operators|admin|g/|editor|i18n)", link)
            shape = re.sub(r"[?].*|[0-9a-z-]{9,}|[0-9]+", "*", link)  # A page of each kind, and not for each query.
            if not is_aside and shape not in rooms.values() and len(rooms) < MOST_PAGES:
                rooms[link] = shape
                queue.append(link)


def test_no_row_names_a_player_who_has_left(maria) -> None:
    lease = seating.sit(maria, "partnership", "greedy", boards=1, now=NOW)
    assert {"Player", "User", "ApiToken", "Draft", "Try", "EntryRequest", "SearchWord"} <= set(rows_with("maria"))

    new = closing.close(maria, now=later(60))

    assert set(rows_with("maria")) <= MAY_NAME
    assert not Table.objects.filter(pk=lease.pk).exists()
    assert not Session.objects.exists()
    assert Player.objects.get(pk=maria.pk).name == new
    assert new.startswith(players.CLOSED)
    assert EntryRequest.objects.get().status == RequestStatus.WITHDRAWN
    assert (LeagueEvent.objects.get(kind="player.closed").subject, closing.close(maria)) == (f"player:{new}", new)


def test_nobody_takes_the_name_and_nobody_signs_in(maria, client) -> None:
    new = closing.close(maria, now=NOW)

    for name in (NAME, "maria-1uisa"):
        with pytest.raises(Refused, match=r"taken|looks like"):
            players.create(name, now=later(10**9))
    with pytest.raises(Refused, match="reserved"):
        players.create(f"{players.CLOSED}x", now=NOW)
    assert closing.former([NAME, "berto"]) == {NAME}
    for name in (NAME, new):
        assert not client.login(username=name, password="a long password")


def test_a_tournament_goes_on_to_its_end(maria) -> None:
    rufa = bots.sent_version(maria.bots.get())
    theirs = accepted(players.create("carla", now=NOW), "otro")
    cup = started(players.create("dora", now=NOW), [rufa, theirs], name="Other cup")

    closing.close(maria, now=later(1))

    assert maria.bots.get().state == BotState.RETIRED
    waiting = holds.playable_matches(Match.line.filter(tournament=cup, status=MatchStatus.QUEUED))
    assert waiting.exists()
    for match in waiting:
        play(match, winner=0, now=later(3))
    progress.advance(cup, now=later(4))
    assert Tournament.objects.get(pk=cup.pk).status == TournamentStatus.FINISHED


def test_a_worker_that_has_the_table_is_told_that_it_has_gone(maria) -> None:
    seating.sit(maria, "partnership", "greedy", boards=1, now=NOW)
    lease = holding.claim("w1", now=NOW)
    assert lease is not None

    closing.close(maria, now=later(1))

    lease.beat(now=later(2))
    assert lease.lost
    with pytest.raises(Exception, match=r".") as lost:
        holding.ask(lease, Question(0, 1, ["play 1o"], ["1o"], [], []), [], now=later(2))
    assert type(lost.value).__name__ in ("LeaseLost", "DoesNotExist")


def test_an_upload_that_began_before_comes_too_late(maria) -> None:
    before = Player.objects.get(pk=maria.pk)
    closing.close(maria, now=later(1))

    with pytest.raises(Refused, match="closed"):
        uploaded(before, "otra")
    with pytest.raises(Refused, match="retired"):
        uploaded(before, "rufa")
    assert not Bot.objects.filter(slug="otra").exists()


def test_the_house_and_operators_are_refused(maria) -> None:
    with pytest.raises(Refused, match="house"):
        closing.close(house.player(now=NOW), now=NOW)
    User.objects.filter(pk=maria.user_id).update(is_staff=True)
    with pytest.raises(Refused, match="operator"):
        closing.close(maria, now=NOW)
    assert not names.is_free(names.PLAYER, NAME)
    assert Player.objects.get(pk=maria.pk).name == NAME

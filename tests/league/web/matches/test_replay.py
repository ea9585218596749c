"""The record on its way to the reader: in words for every event there is, and never with a card that is not for this reader."""

from __future__ import annotations

import json
import random
import re

import pytest
from django.conf import settings
from django.utils.translation import override

import engine
from league.domain.core import queue
from league.domain.matches import leases
from league.models import Party
from league.web.common.words import action_name
from league.web.matches import narrate
from league.web.matches.column import column
from league.web.matches.record import shown_moments
from league.web.matches.viewer import for_viewer
from tests.league.web.conftest import SECRETS, put, record
from tests.support import league as made
from tests.support.knowing import CARD, cards_in
from tests.support.parts import mostly_slow
from tests.support.playing import choose


@pytest.mark.parametrize("key", mostly_slow(engine.games(), ("corriente", "subastado", "podrida").__contains__))
def test_every_event_of_every_game_has_its_sentence(key: str) -> None:
    replay = record(key, "words")
    names = [f"bot{seat}" for seat in range(replay["players"])]
    kinds = {event["e"] for event in replay["events"]} - narrate.QUIET
    assert kinds <= set(narrate._SENTENCES), f"no sentence for {kinds - set(narrate._SENTENCES)}"
    for language in ("es", "en"):
        with override(language):
            lines = narrate.narrate(replay["events"], names)
    assert len(lines) == sum(event["e"] not in narrate.QUIET for event in replay["events"])
    assert len({line.anchor for line in lines}) == len(lines)
    assert "%(" not in " ".join(line.html for line in lines)
    assert column(1, 0, names, names, replay["events"]).count("\n") > len(replay["events"]) / 5


def test_every_kind_that_the_engine_writes_has_its_sentence() -> None:
    engine_files = (settings.BASE_DIR / "engine").glob("**/*.py")
    kinds = {
        kind for path in engine_files for kind in re.findall(r'emit\(\s*"(\w+)"', path.read_text(encoding="utf-8"))
    }
    assert kinds - narrate.QUIET <= set(narrate._SENTENCES)


@pytest.mark.parametrize("key", engine.games())
def test_words_of_a_restricted_record_name_no_hidden_card(key: str) -> None:
    replay = record(key, "hidden", deals=1)
    with override("en"):
        public = narrate.narrate(engine.redact(replay["events"], None), ["a"] * replay["players"])
    assert "secret" not in "".join(line.html for line in public)


def test_french_cards_are_not_taken_for_spanish_ones() -> None:
    game = engine.load("podrida", preset="podrida52")
    state = game.new_match(seed="french", deals=1)
    while not state.is_over:
        state.apply(choose(state, random.Random(1)))
    events = shown_moments(engine.replay.make(state))
    assert {card[-1] for event in events if event["e"] == "play" for card in [event["card"]]} <= set("♠♥♦♣")
    with override("es"):
        text = " ".join(line.html for line in narrate.narrate(events, ["a", "b", "c", "d"]))
    assert "copas" not in text
    assert "♣" in text


def test_a_side_of_two_bots_is_called_by_both_and_several_losers_in_the_plural() -> None:
    replay = record("partnership", "plain", deals=1)
    bots = ["ana", "greedy", "counting", "greedy"]
    assert for_viewer(replay, bots, [0, 1, 2, 1])["sides"] == {0: "ana + counting", 1: "greedy"}
    with override("es"):
        lines = [line for line in narrate.narrate(replay["events"], bots, bots) if line.kind == "score"]
        assert "Pierden: " in lines[0].html
        assert set(for_viewer(replay, bots, [0, 1, 2, 1], 2)["sides"].values()) == {"Nosotros", "Ellos"}


def test_the_final_score_is_in_games_and_names_both_seats_of_a_side_whose_bot_also_helps_the_other() -> None:
    state = engine.load("guinote", players=4).new_match(seed="games")
    while not state.is_over:
        state.apply(choose(state, random.Random(1)))
    bots = ["ana", "greedy", "greedy", "greedy"]
    with override("en"):
        *_, line = narrate.narrate(
            engine.replay.make(state)["events"], ["ana", "greedy 1", "greedy 2", "greedy 3"], bots
        )
    games = [score // 1000 for score in state.scores()[:2]]
    assert line.html == f"Final score: ana + greedy 2 {games[0]}, greedy 1 + greedy 3 {games[1]}."


def test_the_last_trick_is_worth_its_bonus_in_the_words_too() -> None:
    events = record("partnership", "plain", deals=1)["events"]
    [at] = [at for at, event in enumerate(events) if event["e"] == "trick" and event.get("last")]
    before = [event["e"] for event in events[:at] if event["e"] not in narrate.QUIET]
    with override("en"):
        [line] = [line for line in narrate.narrate(events, list("abcd")) if line.step == len(before)]
    assert f"takes the last trick: {events[at]['points'] + 10} points" in line.html


def test_names_are_escaped() -> None:
    lines = narrate.narrate([{"e": "play", "seat": 0, "card": "1o"}], ["<b>x</b>"])
    assert "<b>" not in lines[0].html


def test_the_viewer_gets_every_event_and_its_words(league, reader) -> None:
    answer = reader.get(f"/m/{league.clean.public_id}/replay.json?b=2&s=1").json()
    assert {"events", "seats", "cards", "labels", "scores"} <= set(answer)
    assert not {"seed", "actions"} & set(answer)
    assert answer["cards"]["Ro"] == "rey de oros"
    page = reader.get(f"/m/{league.clean.public_id}/?b=2&s=1").content.decode()
    assert page.count("<li id=") == len([e for e in answer["events"] if e["e"] != "match"])
    assert 'id="d1p17"' in page


@pytest.mark.parametrize("view", ["public", "0", "1"])
def test_a_restricted_view_has_no_hidden_card(league, reader, view: str) -> None:
    cup = made.started(league.ana, [league.rufo, league.luna], game="corriente", name="Stock")
    match = made.play(cup.matches.get())
    sitting = put(match, record("corriente", "view", deals=1))
    answer = reader.get(f"/m/{match.public_id}/replay.json?b={sitting.board.number}&s={sitting.number}&as={view}")
    replay = answer.json()
    assert not {"seed", "actions", "timings"} & set(replay)
    full = record("corriente", "view", deals=1)["events"]
    seat = None if view == "public" else int(view)
    assert replay["events"] == json.loads(json.dumps(engine.redact(full, seat)))
    deal = next(event for event in full if event["e"] == "deal")
    first_card = next((i for i, e in enumerate(replay["events"]) if e["e"] == "play"), len(replay["events"]))
    before_play = replay["events"][:first_card]
    hidden = {card for other, hand in enumerate(deal["hands"]) if other != seat for card in hand} | set(deal["rest"])
    assert not cards_in(before_play) & (
        hidden - {deal["shown"]} - cards_in([e for e in before_play if e["e"] != "deal"])
    )
    assert CARD.search(answer.content.decode())


def test_a_match_that_runs_shows_the_scores_of_boards_that_are_over_and_no_card(league, reader) -> None:
    made.started(league.ana, [league.rufo, league.luna], name="Slow")
    match = made.running(now=made.later(1))
    address = f"/m/{match.public_id}/"
    assert queue.beat(match, progress=60, decided=[[1, [67, 63]]], now=made.later(2))
    answer = reader.get(address)
    rows = re.findall(
        r'<th scope="row" class="num">1</th>\s*<td class="num">67</td>\s*<td class="num">63</td>',
        answer.content.decode(),
    )
    assert len(rows) == 1
    # Not a card of it, in words or as data, and no way to its replay
    assert not CARD.search(answer.content.decode())
    assert "tute-replay" not in answer.content.decode()
    for path in ("replay.json?b=1&s=0", "b/1/"):
        assert reader.get(address + path).status_code == 404
    # The next attempt begins with none, and who has lost the lease tells nothing more
    assert leases.fail(match, why="a test", now=made.later(3))
    assert not queue.beat(match, decided=[[1, [67, 63]]], now=made.later(4))
    match.refresh_from_db()
    assert (match.status, match.decided) == ("queued", None)
    again = made.play(match, now=made.later(10_000))
    assert (again.status, again.decided) == ("finished", None)


def test_a_match_that_is_not_over_shows_nothing(league, reader) -> None:
    match = made.started(league.ana, [league.rufo, league.luna], name="Waiting").matches.get()
    page = reader.get(f"/m/{match.public_id}/").content.decode()
    assert "tute-replay" not in page
    assert f'data-live="match:{match.public_id}"' in page
    assert reader.get(f"/m/{match.public_id}/replay.json").status_code == 404
    assert reader.get(f"/m/{match.public_id}.txt").status_code == 409


def test_a_fault_is_the_last_step(league, reader) -> None:
    page = reader.get(f"/m/{league.faulty.public_id}/").content.decode()
    assert "caída" in page
    record_ = {
        **record("partnership", "cut", deals=1),
        "faults": [{"step": 3, "seat": 1, "fault": "crash", "detail": "ended"}],
    }
    put(league.faulty, record_)
    events = reader.get(f"/m/{league.faulty.public_id}/replay.json").json()["events"]
    assert events[-1] == {"e": "fault", "seat": 1, "fault": "crash", "detail": "ended"}
    assert "queda fuera: caída (ended)" in reader.get(f"/m/{league.faulty.public_id}/").content.decode()


def test_the_text_form_is_a_column(league, reader) -> None:
    answer = reader.get(f"/m/{league.clean.public_id}.txt?b=1&s=0")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    text = answer.content.decode()
    assert "Reparto 1, colocación 1" in text
    assert sum(line.strip()[:2].rstrip(".").isdigit() and "->" in line for line in text.splitlines()) == 10
    assert reader.get(f"/m/{league.clean.public_id}.txt").content.decode().count(", colocación ") == 4


def test_only_the_owner_reads_what_the_bot_wrote_for_its_author(league, reader, owner, stranger) -> None:
    match = f"/m/{league.faulty.public_id}/"
    urls = [
        match,
        f"{match}replay.json",
        f"/m/{league.faulty.public_id}.txt",
        "/bots/rufo/",
        "/bots/rufo/v1/",
        f"/t/{league.cup.slug}/",
    ]
    for client in (reader, stranger):
        for url in urls:
            text = client.get(url).content.decode()
            assert not [secret for secret in SECRETS if secret in text], url
    text = owner.get(match).content.decode()
    assert [secret for secret in SECRETS if secret not in text] == []
    assert Party.objects.get(match=league.faulty, version=league.luna).stderr not in text
    assert "caída" in reader.get(match).content.decode()


def test_notes_are_for_the_owner(league, reader, owner) -> None:
    url = f"/m/{league.clean.public_id}/"
    assert "mine" not in reader.get(url + "replay.json").content.decode()
    assert "Notas de tu bot" not in reader.get(url).content.decode()


def test_times_are_for_the_owner(league, reader, owner, stranger) -> None:
    played = record("partnership", "timed", deals=1)
    timings = {
        "unit": "us",
        "steps": [0, 1, 4, 5],
        "seats": [1, 0, 3, 2],
        "cpu": [1500, 7, 250, 8],
        "wall": [123450, 1, 2, 3],
        "latency": [4, 5, 6, 7],
    }
    put(league.clean, {**played, "timings": timings})
    url = f"/m/{league.clean.public_id}/"

    page = owner.get(url).content.decode()
    assert "Tiempo de 2 decisiones de tu bot" in page  # it holds seats 1 and 3
    with override("es"):
        first, second = (action_name(played["actions"][step]) for step in (0, 4))
    for name, numbers in (
        ("Media", ["0,88", "61,50", "0,01"]),
        (first, ["1,50", "123,00", "0,00"]),
        (second, ["0,25", "0,00", "0,01"]),
    ):
        row = page.partition(f">{name}</t")[2].partition("</tr>")[0]
        assert re.findall(r'<td class="num">(.*?)</td>', row) == numbers
    for client in (reader, stranger):
        assert "decisiones de tu bot" not in client.get(url).content.decode()


def test_the_log_of_a_match_has_every_sitting_and_notes_of_ones_own(league, reader, owner) -> None:
    url = f"/m/{league.clean.public_id}.jsonl"
    answer = reader.get(url)
    assert answer.headers["Content-Type"] == "application/jsonl"
    lines = [json.loads(line) for line in answer.getvalue().decode().splitlines()]
    assert len(lines) == 4
    for replay in lines:
        engine.replay.verify(replay)
    assert not any(replay["notes"] for replay in lines)
    assert "mine" in owner.get(url).getvalue().decode()
    waiting = made.started(league.ana, [league.rufo, league.luna], name="Waiting too").matches.get()
    assert reader.get(f"/m/{waiting.public_id}.jsonl").status_code == 404

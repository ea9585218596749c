"""The pages of Learn that are not documents: Tute in 3 minutes, and introductions for teachers, researchers and operators."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

import engine
from engine.lessons import ME, PARTNER, Lesson, LessonAnswer, lessons
from league.domain.puzzles import shelf
from league.service import changes
from league.web.common import words
from league.web.common.pools import rated_pools

# The question of each lesson, and the rule behind it. The engine gives the answers.
TEXTS = {
    "take": (
        gettext_lazy("Take the trick"),
        gettext_lazy(
            "Four people play a card each: a trick. The highest card of the suit led takes it: ace, three, king, horse, jack, 7, 6, 5, 4, 2. An "
            "ace is worth 11, a three 10, a king 4, a horse 3, a jack 2, the others nothing. The numbers on the cards are only names: 1 is the "
            "ace, 10 the jack, 11 the horse, 12 the king. Which card brings most?"
        ),
        gettext_lazy("All three take the trick; the ace adds the most points."),
    ),
    "follow": (
        gettext_lazy("Follow suit, and beat"),
        gettext_lazy(
            "Swords were led. You must follow with a sword, and beat the best one if you can, even that of your partner."
        ),
        gettext_lazy("You must follow swords and beat the horse; only the king does both."),
    ),
    "ruff": (
        gettext_lazy("No batons? Trump"),
        gettext_lazy(
            "Trump is coins today. Any trump beats all cards of other suits. Without the suit led you must play a trump."
        ),
        gettext_lazy("Without batons you must trump; even the two takes the ace."),
    ),
    "load": (
        gettext_lazy("Give points to your partner"),
        gettext_lazy(
            "Your partner's ace is taking this trick, and you cannot beat it. You play as a pair: add points to it."
        ),
        gettext_lazy("The trick goes to your partner, so it is yours as well: the three adds 10."),
    ),
    "sing": (
        gettext_lazy("Sing king and horse"),
        gettext_lazy(
            "You have just taken a trick. King and horse of one suit are worth 20, of trumps 40, if you sing them now. You may sing one pair."
        ),
        gettext_lazy("A pair of trumps, here coins, is worth 40, any other pair 20."),
    ),
    "last": (
        gettext_lazy("The last trick"),
        gettext_lazy(
            "Two cards are left, and it is your lead. The last trick is worth 10 more. The player on your right still has one trump, the six. What "
            "do you lead first?"
        ),
        gettext_lazy("The trump draws the six, so nobody can trump your ace in the last trick."),
    ),
}
PLACES = {0: "right", PARTNER: "partner", 2: "left"}  # Play goes round to the right, as in Spain.


@dataclass(frozen=True)
class LessonChoice:
    """A possible answer, as the page shows it."""

    text: str
    card: str  # "" if the answer is not a card.
    name: str
    verdict: str
    best: bool


@dataclass(frozen=True)
class LessonStep:
    """A lesson as the page shows it."""

    key: str
    title: str
    text: str
    trump: str
    trump_name: str
    table: list[tuple[str, str, str]]  # Place, card and name of each card, in the order of play.
    hand: list[tuple[str, str]]  # Card and name; empty if the cards are the choices.
    choices: list[LessonChoice]


@changes.kept_until(changes.RELEASE)
def learn(request: HttpRequest) -> HttpResponse:
    """Show Tute in 3 minutes: positions to answer, which the engine judges. No query."""
    return render(request, "pages/learn.html", {"steps": [_step(lesson) for lesson in lessons()]})


@changes.kept_until(changes.RELEASE)
def how(request: HttpRequest) -> HttpResponse:
    """Show how the league works, in pictures. No query."""
    return render(request, "pages/how.html", {})


@changes.kept_until(changes.RELEASE)
def teach(request: HttpRequest) -> HttpResponse:
    """Show what a class can do on the site. No query."""
    return render(request, "pages/teach.html", {})


@changes.kept_until(changes.RELEASE, changes.POOLS)
def research(request: HttpRequest) -> HttpResponse:
    """Show environments, data and how to cite. One query, for the games that have ratings."""
    rated = rated_pools(engine.games())
    context = {
        "count": len(engine.games()),
        "rated": list(rated),
        "puzzles": not shelf.is_empty(),
        "version": engine.__version__,
    }
    return render(request, "pages/research.html", context)


@changes.kept_until(changes.RELEASE)
def run_your_own(request: HttpRequest) -> HttpResponse:
    """Show how to run a league. No query."""
    return render(request, "pages/run_your_own.html", {})


def _step(lesson: Lesson) -> LessonStep:
    title, text, why = map(str, TEXTS[lesson.key])
    plays = all(answer.text.startswith("play ") for answer in lesson.answers)
    return LessonStep(
        lesson.key,
        title,
        text,
        lesson.trump,
        words.suit_name(lesson.trump),
        [(PLACES[seat], card, words.card_name(card)) for seat, card in lesson.table],
        [] if plays else [(card, words.card_name(card)) for card in lesson.hand],
        [_choice(lesson, answer, why) for answer in lesson.answers],
    )


def _choice(lesson: Lesson, answer: LessonAnswer, why: str) -> LessonChoice:
    verb, _gap, rest = answer.text.partition(" ")
    card = rest if verb == "play" else ""
    name = words.card_name(card) if card else words.action_name(answer.text) if verb == "sing" else _("Say nothing")
    return LessonChoice(answer.text, card, name, f"{_verdict(lesson, answer)} {why}", answer.best)


def _verdict(lesson: Lesson, answer: LessonAnswer) -> str:
    """Return the engine's verdict on an answer in words."""
    if not answer.legal or answer.points is None:
        return _("The rules do not allow this card here.")
    most = max(other.points or 0 for other in lesson.answers)
    points = ngettext("%(n)s point for you.", "%(n)s points for you.", answer.points) % {"n": answer.points}
    if answer.best:
        return _("Right: %(points)s") % {"points": points}
    if answer.winner not in (None, ME, PARTNER):
        return _("Allowed, but the others take the trick.")
    return _("Allowed: %(points)s There is a better choice, worth %(most)s.") % {"points": points, "most": most}

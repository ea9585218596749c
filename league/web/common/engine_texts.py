"""Sentences that engine and workers have stored in English, in the reader's language.

A stored sentence is recognised by the text with placeholders that it was made from. `{text}` and `{why}` are sentences themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from django.utils.formats import get_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, gettext_noop

from league.web.common.game_lines import game_title
from league.web.common.words import fault_name

LONGEST = 2000  # Characters of a sentence; no longer one is translated.
# What surrounds a sentence comes first.
TEXTS = (
    gettext_noop("while starting: {text}"),
    gettext_noop("after the end of a cancelled match: {text}"),
    gettext_noop("a bot failed: {fault}: {text}"),
    gettext_noop("the bot failed: {fault}: {text}"),
    gettext_noop("the league could not play it: {text}"),
    gettext_noop("{text} ({game}, board {board}, sitting {number}, step {step}; match {match})"),
    gettext_noop("{text}: all answers of this pass may take {seconds} s together"),
    gettext_noop("{text}; it wrote {count} bytes without a newline at their end"),
    gettext_noop(
        "{text}; it wrote nothing: stdout is not flushed (fflush(stdout) in C, Flush in Go), or it expects more input"
    ),
    gettext_noop("used {seconds} s of CPU for one answer (limit {limit} s)"),
    gettext_noop(
        "used {seconds} s of CPU for one answer (limit {limit} s); {count} answers before it were late by as little and were accepted, because the "
        "clock of this host may be that inaccurate"
    ),
    gettext_noop("used {seconds} s of CPU in all (limit {limit} s)"),
    gettext_noop("used {milliseconds} ms of CPU while it was frozen"),
    gettext_noop("no answer within {limit} s of wall time ({seconds} s of CPU used)"),
    gettext_noop(
        "no answer within {limit} s of wall time ({seconds} s of CPU used, {held} s in the kernel, such as waiting for a disk, not counted)"
    ),
    gettext_noop("no answer: it waits for its next line ({seconds} s of CPU used)"),
    gettext_noop("did not read its input within {limit} s"),
    gettext_noop("did not stop within {limit} s"),
    gettext_noop("printed a line longer than {count} bytes"),
    gettext_noop("printed {answer} although nothing was asked"),
    gettext_noop("closed its input"),
    gettext_noop("closed its output"),
    gettext_noop("ended by exit status {number}"),
    gettext_noop("ended by signal {name}"),
    gettext_noop("ended its first thread and continued without it"),
    gettext_noop("holds {count} MiB (limit {limit} MiB)"),
    gettext_noop("runs {count} threads (limit {limit} besides the first)"),
    gettext_noop("the bot answered {answer}; legal were: {legal}"),
    gettext_noop("{why}; the bot wrote: {answer} ; expected: {legal}"),
    gettext_noop("a line must be one JSON object"),
    gettext_noop('"do" must be text, one of the "legal" list'),
    gettext_noop('"id" must be the whole number of the request'),
    gettext_noop(
        "declares itself deterministic and answered {answer}, but {legal} when asked the same again; derive randomness from the seed of hello and "
        "use no clocks, or remove deterministic = true from bot.toml"
    ),
    gettext_noop("not tried, because the bot was too slow in {count} games before; answer sooner"),
    gettext_noop(
        "the other games took all of the {seconds} s that a validation has; answer sooner, or declare fewer games"
    ),
    gettext_noop("stopped"),
    gettext_noop("stopped by an operator"),
    gettext_noop("it has used the time of workers that a study may have"),
    gettext_noop("the league has a newer release; start the study again"),
    gettext_noop("a bot of it may not play any more"),
    gettext_noop("no board was finished within {seconds} s"),
    gettext_noop("{name} made a fault in each of its last {count} matches, in the last one: {fault}"),
    gettext_noop("{name} made a fault in each of its last {count} matches, in the last one: {fault} (match {match})"),
    gettext_noop("worker {name} was lost"),
    gettext_noop(
        "a bot at this table is compiled for a Python that no worker has any more; the league builds it again first"
    ),
    gettext_noop("a bot at this table failed in each of its last matches; it is tested again first"),
    gettext_noop("its tournament is paused, or a bot at this table, by its owner or an operator"),
    gettext_noop("no worker is running; start one with `manage.py worker` (or `manage.py serve` for all in one)"),
    # Refusals of packages that a first upload meets.
    gettext_noop("the upload is empty; send a source file or a zip"),
    gettext_noop(
        "the upload is larger than {answer}, the most that a package may have; leave data files out or shrink them"
    ),
    gettext_noop(
        "the file is called .zip but is not a zip archive; pack it again, e.g. with: zip -r bot.zip bot.toml bot.py"
    ),
    gettext_noop(
        "{answer} is neither a source file ({legal}) nor a zip; send one of those. An executable goes into a zip with a bot.toml"
    ),
    gettext_noop("no bot.toml at the top of the package; add one with name, runtime, entry and games"),
    gettext_noop("a bot.toml alone is not a bot; send a zip with it and the files it names"),
    gettext_noop("a package with a bot.toml declares its games there; change its line games = [...]"),
    gettext_noop("bot.toml is not valid TOML ({answer}); see the example in docs/bot-package.md"),
    gettext_noop("bot.toml needs {answer} as text; add a line such as {legal}"),
    gettext_noop("bot.toml has the unknown key {answer}; allowed are {legal}"),
    gettext_noop("bot.toml: unknown runtime {answer}; write one of {legal}"),
    gettext_noop("bot.toml: unknown build {answer}; write one of {legal}"),
    gettext_noop("bot.toml: entry {answer} is not a file of the package; name the file to start"),
    gettext_noop("unknown game {answer}; the games are {legal}"),
)
NUMBERS = frozenset(("seconds", "milliseconds", "held", "limit", "count", "number", "board", "step"))
WORDS = frozenset(("fault", "game", "match", "name"))
READERS: dict[str, Callable[[str], str]] = {"fault": fault_name, "game": game_title}


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(text, re.compile(re.sub(r"\\\{(\w+)\\\}", _group, re.escape(text)), re.DOTALL)) for text in TEXTS]


def _group(placeholder: re.Match[str]) -> str:
    name = placeholder[1]
    form = r"-?\d+(?:\.\d+)?" if name in NUMBERS else r"[^\s:,;()]+(?: v\d+)?" if name in WORDS else ".+?"
    return f"(?P<{name}>{form})"


def translated(text: str) -> str | None:
    """Return a stored sentence in the active language; None if it is unknown."""
    if len(text) > LONGEST:
        return None
    for template, pattern in _patterns():
        if match := pattern.fullmatch(text):
            return gettext(template).format(**{name: _value(name, value) for name, value in match.groupdict().items()})
    return None


def _value(name: str, value: str) -> str:
    if name in ("text", "why"):
        return translated(value) or value
    if name in NUMBERS:
        return value.replace(".", get_format("DECIMAL_SEPARATOR"))
    return READERS[name](value) if name in READERS else value


def engine_text(text: str) -> str | SafeString:
    """Return a stored sentence for a page: in the reader's language, else marked as English."""
    if not text or (get_language() or "en").startswith("en"):
        return text
    words = translated(text)
    return format_html('<span lang="en">{}</span>', text) if words is None else words

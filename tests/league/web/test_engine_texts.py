"""Sentences that engine and workers store in English are Spanish on Spanish pages."""

from __future__ import annotations

import re
import signal
import time

import pytest
from django.utils.translation import override

from engine.runner import protocol
from engine.runner.faults import Fault
from engine.runner.limits import Clock, Limits
from engine.sandbox import Policy
from engine.sandbox.process import bot, death
from league.domain.matches import workers
from league.domain.studies import parts
from league.web.common import engine_texts
from league.web.common.engine_texts import TEXTS, engine_text, translated


def protocol_fault() -> str:
    with pytest.raises(Fault) as caught:
        protocol.ready(b"[1]")
    return caught.value.detail


def strike() -> str:
    clock = Clock(Limits(move_s=0.5, bank_s=0.0))
    for _ in range(3):
        clock.spend(0.501)
    with pytest.raises(Fault) as caught:
        clock.spend(0.501)
    return caught.value.detail


def ended(code: int) -> str:
    return death.fault(death.End(code, 1000, 0.1, b""), Policy()).detail


# What code stores, and a part of what a Spanish page shows.
STORED = (
    (str(bot._over(5.26, 5.255).detail), "ha usado 5,26 s de procesador para una respuesta (límite: 5,25 s)"),
    (bot._late(14.0, 0.01, 0.0), "sin respuesta en 14 s"),
    (f"while starting: {bot._late(14.0, 0.01, 0.5)}", "al arrancar: "),
    (ended(3), "terminó con el código de salida 3"),
    (ended(-signal.SIGSEGV), "terminó por la señal SIGSEGV"),
    (strike(), "0,501 s"),
    (protocol_fault(), "; el bot escribió: [1] ; se esperaba: "),
    ("closed its output (partnership, board 1, sitting 0, step 4; match abc)", "Tute por parejas"),
    (parts.BY_OPERATOR, "detenido por un operador"),
    (parts.USED_UP, "ha gastado el tiempo de proceso"),
    (f"a bot failed: crash: {ended(3)}", "código de salida 3"),
    (workers.ON_HOLD, "antes se prueba otra vez"),
    (workers.COMPILED, "compilado para un Python"),
    (workers.PAUSED, "en pausa"),
    ("rufo v3 made a fault in each of its last 5 matches, in the last one: crash (match abc)", "rufo v3"),
)


@pytest.mark.parametrize(("text", "part"), STORED, ids=range(len(STORED)))
def test_what_is_stored_in_english_is_shown_in_spanish(text: str, part: str) -> None:
    with override("es"):
        assert part in (translated(text) or "")
        assert "lang=" not in engine_text(text)
    with override("en"):
        assert engine_text(text) == text


def test_every_sentence_is_recognised_and_translated() -> None:
    samples = dict.fromkeys(engine_texts.NUMBERS, "7") | {"text": "closed its input", "why": "closed its input"}
    with override("es"):
        for template in TEXTS:
            text = re.sub(r"\{(\w+)\}", lambda name: samples.get(name[1], "crash"), template)
            words = translated(text)
            assert words, text
            assert words != text
            assert "{" not in words


def test_an_unknown_sentence_is_marked_and_long_or_hostile_ones_cost_little() -> None:
    with override("es"):
        assert engine_text("<b>new</b>") == '<span lang="en">&lt;b&gt;new&lt;/b&gt;</span>'
        assert engine_text("") == ""
        assert engine_text("the bot answered '{x}<b>'; legal were: pass").count("{x}<b>") == 1
        for piece in ("; the bot wrote: ", "while starting: ", "(", "; it wrote ", "the bot answered "):
            began = time.process_time()
            translated(piece * (engine_texts.LONGEST // len(piece)))
            assert time.process_time() - began < 1.0, piece
        assert translated("x" * (engine_texts.LONGEST + 1)) is None

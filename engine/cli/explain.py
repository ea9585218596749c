"""Faults in words that help their author."""

from __future__ import annotations

from typing import Any

from engine.cli.output import paragraph

ADVICE = {
    "crash": "Look at the end of its log (stderr) below; in Python an exception that is not caught ends the process.",
    "timeout": "A decision has move_s of CPU time and then the bank; answer sooner when bank_s in the request is low. "
    "A bot that sleeps or waits for something else than its input ends at the wall-clock cap.",
    "start_timeout": "From its start to its ready line a bot has start_s of CPU time; load tables later or make them smaller. "
    "It must answer the hello line before anything else.",
    "memory": "The process passed its memory limit; hold less, or free what the last board needed.",
    "output_flood": "Write one line per request and nothing else; what is for you goes to stderr.",
    "protocol": "Write exactly one JSON object per request, on one line, with the id of the request, and flush it. Print what is for you to stderr.",
    "illegal_action": 'Answer with one of the texts of "legal", letter by letter.',
    "pondering": "Threads may not work while the bot is not asked; stop them before you answer.",
    "disconnect": "Keep stdin and stdout open until the end line or the end of the input.",
}


def explain(name: str, fault: Any, indent: str = "") -> None:
    """Print the fault as a paragraph, then the exact request and answer, each on one line so that they can be copied."""
    when = "at its start" if fault.step < 0 else f"after {fault.step} actions"
    where = f"board {fault.board}, sitting {fault.sitting}, seat {fault.seat}, {when}"
    paragraph(f"{name} failed by {fault.kind} ({where}): {fault.detail}. {ADVICE.get(fault.kind, '')}", indent)
    if fault.request:
        print(f"{indent}  request: {fault.request}")
    print(f"{indent}  answer:  {fault.answer or '(none)'}")

"""Explanations of faults for the bot's author."""

from __future__ import annotations

from typing import Any

from engine.cli.output import paragraph, seats

ADVICE = {
    "crash": "Look at the end of its log (stderr) below; an uncaught exception ends the process.",
    "timeout": "A decision has move_s of CPU time and then the bank; answer faster when bank_s in the request is low. "
    "A bot that sleeps or waits for anything but its input is stopped at the wall-clock limit.",
    "start_timeout": "From its start to its ready line a bot has start_s of CPU time; load tables later or make them smaller. "
    "It must answer the hello line before anything else.",
    "memory": "The process exceeded its memory limit; store less, or free the memory of the last board.",
    "output_flood": "Write one line per request and nothing else to stdout; write your own messages to stderr.",
    "protocol": "Write exactly one JSON object per request, on one line, with the id of the request, and flush it. "
    "Write your own messages to stderr.",
    "illegal_action": 'Answer with one of the texts of "legal", letter by letter.',
    "pondering": "Threads may not work between a bot's turns; stop them before you answer.",
    "disconnect": "Keep stdin and stdout open until the end line or the end of the input.",
}


def explain(name: str, fault: Any, indent: str = "") -> None:
    """Print the fault as a paragraph, then the exact request and answer, each on one line for copying."""
    when = "at its start" if fault.step < 0 else f"after {fault.step} actions"
    where = f"board {fault.board}, {seats(fault.sitting)}, seat {fault.seat + 1}, {when}"
    advice = "" if "stdout is not flushed" in fault.detail else ADVICE.get(fault.kind, "")
    paragraph(f"{name} failed by {fault.kind} ({where}): {fault.detail}. {advice}".rstrip(), indent)
    if fault.request:
        print(f"{indent}  request: {fault.request}")
    print(f"{indent}  answer:  {fault.answer or '(none)'}")


def print_log_end(log: str, indent: str = "    ") -> None:
    """Print the last lines of a bot's log, without what would steer the terminal."""
    for line in log.splitlines()[-12:]:
        print(indent + "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line[:200]))

"""The decisive line of a log, in both languages of the editor."""

from __future__ import annotations

from engine.runner.tracebacks import verdict

PYTHON = """hello
Traceback (most recent call last):
  File "/bot/bad.py", line 11, in <module>
    run(Bad())
  File "/python/extra/tute_bot.py", line 843, in run
    _talk(Session(bot, rescue), requests, answers)
  File "/bot/bad.py", line 7, in act
    return {}["nothing"]
           ~~^^^^^^^^^^^
KeyError: 'nothing'
--- pass 1, seat 1
"""
NODE = """file:///bot/tute.mjs:108
    return action.startsWith("play ") ? this.card_of(action.slice(5)) : -1;
                  ^

TypeError: Cannot read properties of undefined (reading 'startsWith')
    at View.plays (file:///bot/tute.mjs:108:19)
    at choose (file:///bot/bot.mjs:3:15)
    at file:///bot/bot.mjs:5:20
    at run (file:///bot/tute.mjs:520:33)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)

Node.js v20.20.2
"""
MALFORMED = """file:///bot/bot.mjs:2
const = 1;
      ^

SyntaxError: Unexpected token '='
    at compileSourceTextModule (node:internal/modules/esm/utils:346:16)

Node.js v20.20.2
"""


def test_an_exception_of_python_is_at_the_innermost_line_of_the_bot() -> None:
    assert verdict(PYTHON) == "bad.py, line 7, in act: KeyError: 'nothing'"
    assert verdict('  File "/bot/bot.py", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n') == (
        "bot.py, line 2: SyntaxError: invalid syntax"
    )
    outside = f'  File "/var/cache/packages/{"a" * 64}/bot.py", line 2\nSyntaxError: invalid syntax\n'
    assert verdict(outside) == "bot.py, line 2: SyntaxError: invalid syntax", "a bot that runs without a sandbox"


def test_an_exception_of_node_is_not_at_a_line_of_the_kit() -> None:
    assert verdict(NODE) == (
        "bot.mjs, line 3, in choose: TypeError: Cannot read properties of undefined (reading 'startsWith')"
    )
    assert verdict(MALFORMED) == "bot.mjs, line 2: SyntaxError: Unexpected token '='"


def test_any_other_log_has_none() -> None:
    for log in ("", "Segmentation fault", "Traceback (most recent call last):\n  File cut", "file:///bot/bot.mjs:2"):
        assert verdict(log) == ""

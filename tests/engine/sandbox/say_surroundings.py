"""The surroundings of a program in a tier: what every program expects, and what no bot has."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from engine.sandbox import Policy
from engine.sandbox.files import runtimes
from engine.sandbox.tiers.choosing import start

EVALUATE = """
import locale, os, sys, tempfile, time, zoneinfo
for line in sys.stdin:
    try:
        print(repr(eval(line)), flush=True)
    except Exception as error:
        print(type(error).__name__, flush=True)
"""
# An expression, and what it is worth in every tier.
EXPECTED = {
    "open(os.devnull, 'w').write('lost')": "4",
    "open(os.devnull, 'ab').write(b'lost')": "4",
    "open(os.devnull).read()": "''",
    "len(open('/dev/urandom', 'rb', 0).read(8)), len(os.urandom(8))": "(8, 8)",
    "locale.setlocale(locale.LC_ALL, ''), os.environ['LANG']": "('C.UTF-8', 'C.UTF-8')",
    "os.listdir(os.path.expanduser('~')), os.path.samefile('.', os.environ['HOME'])": "(['bot.py'], True)",
    "time.tzname[0], time.localtime(0).tm_hour": "('UTC', 0)",
    "len(os.environ.keys() - {'PWD', 'LC_CTYPE'})": "6",
}
# What no bot has or may do: the tree refuses it in one tier, Landlock in the other.
REFUSED = (
    "open('new', 'w')",
    "open('bot.py', 'w')",
    "open('bot.py', 'r+')",
    "os.open('.', os.O_TMPFILE | os.O_RDWR)",
    "os.open('bot.py', os.O_TRUNC)",
    "tempfile.gettempdir()",
    "zoneinfo.ZoneInfo('Europe/Madrid')",
    "os.listdir('/proc/self')",
)


def findings(tier: str, state_dir: Path, *, sealed: bool = False) -> dict[str, str]:
    """Return what each expression is worth to a bot."""
    with tempfile.TemporaryDirectory(dir=state_dir) as folder:
        Path(folder).chmod(0o755)
        Path(folder, "bot.py").write_text(EVALUATE)
        policy = Policy(memory_mb=128, sealed=sealed)
        with start(tier, Path(folder), runtimes.python(state_dir), "bot.py", policy) as bot:
            bot.freeze()
            return {
                expression: bot.ask(f"{expression}\n".encode(), 10, 10).line.decode()
                for expression in (
                    *EXPECTED,
                    *REFUSED,
                    "sys.orig_argv[-1]",
                    "os.stat('.').st_mtime, os.stat('bot.py').st_mtime",
                )
            }


if __name__ == "__main__":
    print(json.dumps(findings(sys.argv[2], Path(sys.argv[1]))))

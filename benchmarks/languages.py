"""The table of docs/builds.md: from `tute bot new` to a rating, for every language, on a league with PostgreSQL and one real worker.

    .venv/bin/python benchmarks/languages.py [LANGUAGE ...] [--port 8107]

Each bot is created, submitted, built, validated and entered in the ladder of one game, by an author's commands and an operator's processes. Seconds
after `submit` are of the league's own clock, from the upload: to the end of the build, of the validation, of the first rated match, and to the first
rating. "start" is the CPU time of the slowest start in the validation, and "share" its part of the allowance; the other CPU times are of that match.
A language that fails is named, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # Run as a file, Python looks in benchmarks/ first.

from engine.runner import Limits  # noqa: E402
from tests.engine.runner.test_kits import CHOOSE, CSHARP, PARTS, PYTHON  # noqa: E402
from tests.support import languages  # noqa: E402
from tests.support.postgres import PostgresServer  # noqa: E402
from tests.support.processes import wait_for  # noqa: E402

GAME = "a_dos"
LIMIT_S = 400.0
# Language -> the tools that the worker needs, and the files of a bot that `tute bot new` does not create.
NUMPY = (
    "import numpy\nfrom tute_bot import Bot, run\n\n\nclass Lola(Bot):\n    def act(self, view, legal):\n"
    "        return legal[int(numpy.zeros(len(legal)).argmin())]\n\n\nrun(Lola())\n"
)
KITS: dict[str, tuple[str, ...]] = {
    "c": ("cc",), "c++": ("c++",), "rust": ("rustc",), "go": ("go",), "java": ("javac",), "javascript": ("node",),
    "typescript": ("tsc", "node"), "python": (), "c-wasm": ("clang",), "rust-wasm": ("rustc-wasm",),
}  # fmt: skip
OTHERS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "numpy": ('runtime = "python-numpy"', (), {"bot.py": NUMPY}),
    "c#": ('build = "c#"\nprotocol = "line"', ("mcs",), {"bot.cs": CSHARP, "choose.cs": CHOOSE.replace("ACT", "")}),
    **{build: (f'build = "{build}"', ("python",), {"bot.py": PYTHON, **files}) for build, files in PARTS.items()},
}
STEPS = """
SELECT v.status, v.fault || ' ' || v.fault_detail, v.runtime, extract(epoch FROM b.finished - v.created)::float,
  (SELECT extract(epoch FROM max(m.finished) - v.created)::float FROM league_party p JOIN league_match m ON m.id = p.match_id
   WHERE p.version_id = v.id AND m.kind = 'validation' AND m.status = 'finished'),
  r.seconds, r.cpu_s, r.max_cpu_s, r.decisions, EXISTS (SELECT FROM league_rating g WHERE g.version_id = v.id),
  extract(epoch FROM now() - v.created)::float, (SELECT max(c.max_cpu_s) FROM league_check c WHERE c.version_id = v.id AND c.name = 'start')
FROM league_botversion v JOIN league_bot t ON t.id = v.bot_id LEFT JOIN league_build b ON b.version_id = v.id
LEFT JOIN LATERAL (SELECT extract(epoch FROM m.finished - v.created)::float AS seconds, p.cpu_s, p.max_cpu_s, p.decisions FROM league_party p
  JOIN league_match m ON m.id = p.match_id WHERE p.version_id = v.id AND m.rated AND m.status = 'finished' ORDER BY m.finished LIMIT 1) r ON true
WHERE t.slug = %s
"""


class League:
    """A league on PostgreSQL: web, scheduler and one worker, as `manage.py serve` starts them."""

    def __init__(self, folder: Path, url: str, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        own = {
            "DEBUG": "1",
            "DATABASE_URL": url,
            "STATE_DIR": str(folder / "state"),
            "HOME": str(folder),
            "LADDERS": "1",
        }
        self.environment = {**os.environ, **own}
        self.tute = str(Path(sys.executable).with_name("tute"))
        self.manage("migrate")
        words = [sys.executable, "manage.py", "serve", "--bind", f"127.0.0.1:{port}", "--slots", "1"]
        self.log = (folder / "serve.log").open("w")
        self.process = subprocess.Popen(words, cwd=ROOT, env=self.environment, stdout=self.log, stderr=self.log)

    def manage(self, *words: str) -> str:
        """Run a command of the league."""
        return self.run(sys.executable, "manage.py", *words)

    def run(self, *words: str) -> str:
        """Run a program; return what it prints. Raise RuntimeError if it fails."""
        process = subprocess.run(words, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False)
        if process.returncode:
            raise RuntimeError(f"{' '.join(words)}: {process.stdout}{process.stderr}")
        return process.stdout

    def close(self) -> None:
        """Stop the league."""
        self.process.terminate()
        self.process.wait(60)
        self.log.close()


def write(league: League, folder: Path, language: str) -> None:
    """Create the bot of a language, for one game."""
    if language in KITS:
        league.run(league.tute, "bot", "new", str(folder), "--language", language)
        text = (folder / "bot.toml").read_text()
        lines = [line for line in text.splitlines() if not line.startswith(("games", "name"))]
        (folder / "bot.toml").write_text(f'name = "{folder.name}"\ngames = ["{GAME}"]\n' + "\n".join(lines) + "\n")
        return
    how, _, files = OTHERS[language]
    entry = "bot.cs" if language == "c#" else "bot.py"
    for name, text in {
        **files,
        "bot.toml": f'name = "{folder.name}"\ngames = ["{GAME}"]\n{how}\nentry = "{entry}"\n',
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def follow(url: str, slug: str) -> tuple[Any, ...]:
    """Return the row of STEPS when the version is rated. Raise RuntimeError if it is rejected or takes too long."""
    began = time.monotonic()
    with psycopg.connect(url, autocommit=True) as connection:
        while time.monotonic() - began < LIMIT_S:
            row = connection.execute(STEPS.encode(), (slug,)).fetchone()
            if row is not None and row[0] == "rejected":
                raise RuntimeError(f"rejected: {row[1]}")
            if row is not None and row[9]:
                return tuple(row)
            time.sleep(0.2)
    raise RuntimeError(f"not rated after {LIMIT_S:.0f} s: {row}")


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", choices=[[], *KITS, *OTHERS])
    parser.add_argument("--port", type=int, default=8107)
    args = parser.parse_args()
    chosen = args.languages or [*KITS, *OTHERS]
    tools = {tool for name in chosen for tool in (KITS[name] if name in KITS else OTHERS[name][1])}
    folders = {languages.offer(tool) for tool in tools}
    # Debian's folder last: it may have an older compiler of the same name.
    os.environ["PATH"] = ":".join([*sorted(folders, key=lambda folder: folder == "/usr/bin"), os.environ["PATH"]])
    failed = []
    server = PostgresServer()
    with tempfile.TemporaryDirectory(prefix="tute-languages-") as name:
        Path(name).chmod(0o755)
        url = server.create_database()
        league = League(Path(name), url, args.port)
        try:
            league.manage("enter_house", "random", "greedy")
            league.manage("create_player", "ana", "--no-password")
            token = league.manage("create_token", "ana").split()[-1]
            league.manage("set_quota", "ana", "uploads", "1000", "--why", "every language")
            league.environment |= {"TUTE_TOKEN": token, "TUTE_LEAGUE": league.address}
            with psycopg.connect(url, autocommit=True) as connection:
                accepted = "SELECT count(*) FROM league_botversion WHERE status = 'accepted'"
                wait_for(lambda: connection.execute(accepted).fetchone() == (2,), "the house bots", 300)
            print(
                "| language | runtime | new | submit | built | accepted | match over | rated | start | share "
                "| CPU of the match | slowest | a decision |"
            )
            print("| --- |" + " --- |" * 12, flush=True)
            for language in chosen:
                slug = "bot-" + language.replace("+", "p").replace("#", "sharp")
                folder = Path(name) / slug
                try:
                    began = time.monotonic()
                    write(league, folder, language)
                    new = time.monotonic() - began
                    words = (str(folder), "--no-wait", "--json", "--league", league.address)
                    if waits := json.loads(league.run(league.tute, "submit", *words))["waits"]:
                        raise RuntimeError(waits)
                    submitted = time.monotonic() - began - new
                    row = follow(url, slug)
                except RuntimeError as error:
                    failed.append(language)
                    print(f"| {language} | {error} |", flush=True)
                    continue
                _, _, runtime, build, validation, match, cpu_s, slowest, decisions, _, rated, start = row
                each = 1000 * cpu_s / max(1, decisions)
                share = start / Limits().start_s
                seconds = " | ".join(
                    "" if value is None else f"{value:.1f} s"
                    for value in (new, submitted, build, validation, match, rated)
                )
                print(
                    f"| {language} | {runtime} | {seconds} | {1000 * start:.1f} ms | {share:.1%} "
                    f"| {cpu_s:.2f} s | {1000 * slowest:.1f} ms | {each:.2f} ms |",
                    flush=True,
                )
        finally:
            league.close()
            server.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

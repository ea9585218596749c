"""The league in containers, as README.md and docs/operations/install.md tell an operator to run it: `make compose`.

Builds the image and tries what the documents promise, on a Docker daemon of its own (tests/support/containers.sh). Prints what it has seen, with the
seconds since the start. Where no daemon can be had it says why (exit code 3). Some ten minutes of two free cores the first time, most of
them for the image.

    python -m tests.ops.containers                  everything; BEFORE=COMMIT tries an upgrade from that commit, too
    python -m tests.ops.containers fresh play ...   these steps alone, in this order (`--help` lists them)
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engine.version import VERSION
from tests.ops.test_readme import first_bot
from tests.support.compose import TOP
from tests.support.inbox import Inbox
from tests.support.processes import wait_for

NAME = "league.test"
TLS, PLAIN, SITE = 18443, 18080, 18000  # ports of this machine: of the proxy, and of the site behind it
WORKERS = 2
LONG = 1200  # seconds for what takes half a minute on an idle machine
DAEMON = TOP / "tests" / "support" / "containers.sh"
# Docker asks the first time after half a minute whether a service is healthy; from version 25 on it can ask sooner.
SOON = {"healthcheck": {"start_interval": "2s"}}


class NoContainersError(Exception):
    """No Docker daemon can be had here. The message says why."""


class Site:
    """A clone of the project on a machine with Docker, as an operator has one."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        process = subprocess.run([DAEMON, "up"], stdout=subprocess.PIPE, text=True)
        if process.returncode == 3:
            raise NoContainersError("no Docker daemon can be had here; the reason stands above")
        assert process.returncode == 0
        process_of_folder = subprocess.run([DAEMON, "folder", "site"], check=True, capture_output=True, text=True)
        self.folder = Path(process_of_folder.stdout.strip())
        self.outside = self.folder.parent / "outside"  # Files on that machine beside the clone
        self.outside.mkdir(exist_ok=True)
        (self.outside / "soon.yml").write_text(
            json.dumps({"services": dict.fromkeys(("web", "scheduler", "worker", "postgres", "redis"), SOON)})
        )
        self.files = "docker-compose.yml"
        self.token = ""

    def say(self, text: str) -> None:
        """Print one line of progress."""
        print(f"[{time.monotonic() - self.began:5.0f} s] {text}", flush=True)

    # ---- commands of the operator

    def docker(self, *words: str, fails: bool = False, **more: Any) -> str:
        """Run docker in the clone; return its output. fails: it must fail, and both streams are returned."""
        command = [str(DAEMON), "docker", *words]
        environment = {**os.environ, "FOLDER": "site", "COMPOSE_FILE": self.files}
        process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=3600, **more)
        if fails:
            assert process.returncode, process.stdout
            return process.stdout + process.stderr
        assert process.returncode == 0, f"docker {' '.join(words)}\n{process.stdout[-3000:]}{process.stderr[-3000:]}"
        return process.stdout

    def compose(self, *words: str, fails: bool = False, **more: Any) -> str:
        """Run docker compose in the clone."""
        return self.docker("compose", *words, fails=fails, **more)

    def manage(self, *words: str) -> str:
        """Run a command of the league in the web's container."""
        return self.compose("exec", "-T", "web", "python", "manage.py", *words)

    def checkout(self, commit: str) -> None:
        """Put the clone at a commit of this project; for "" at what lies here, with what is not committed."""
        git = ["git", "-C", str(self.folder)]
        if not (self.folder / ".git").exists():
            subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(TOP), str(self.folder)], check=True)
        head = subprocess.run(
            ["git", "-C", str(TOP), "rev-parse", commit or "HEAD"], check=True, capture_output=True, text=True
        )
        revision = head.stdout.strip()
        subprocess.run([*git, "fetch", "--quiet", str(TOP), revision], check=True)  # The clone may be of another folder
        subprocess.run([*git, "checkout", "--quiet", "--force", "--detach", revision], check=True)
        subprocess.run(
            [*git, "clean", "--quiet", "-d", "--force"], check=True
        )  # Files that git ignores stay: secrets and settings
        if not commit:
            changed = ["git", "-C", str(TOP), "ls-files", "--modified", "--others", "--exclude-standard"]
            names = subprocess.run(changed, check=True, capture_output=True, text=True).stdout
            packed = subprocess.run(
                ["tar", "-cf", "-", "-T", "-"], cwd=TOP, input=names.encode(), check=True, capture_output=True
            )
            subprocess.run(["tar", "-xf", "-"], cwd=self.folder, input=packed.stdout, check=True)

    def prepare(self) -> None:
        """docker/prepare, and what an operator writes into the files that it makes."""
        subprocess.run([self.folder / "docker" / "prepare"], check=True, capture_output=True)
        settings = self.folder / "docker" / "league.env"
        lines = (
            settings.read_text()
            .replace("https://league.example.org", f"https://{NAME}:{TLS}")
            .replace("league.example.org", NAME)
        )
        if "LADDERS" not in lines:
            lines += "\nLADDERS=0\nLOG_FORMAT=json\nAUDIT_PERCENT=0\n"
        settings.write_text(lines)
        if (own := self.folder / ".env").exists():
            text = re.sub("^WORKERS=.*", f"WORKERS={WORKERS}", own.read_text(), flags=re.MULTILINE)
            own.write_text(re.sub("^TUTE_PORT=.*", f"TUTE_PORT={SITE}", text, flags=re.MULTILINE))

    def build(self) -> None:
        """Docker compose build; its lines of progress, thinned out."""
        command = [str(DAEMON), "docker", "compose", "--progress", "plain", "build"]
        last, all_of_it = 0.0, []
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, "FOLDER": "site"}
        ) as running:
            for line in running.stdout or ():
                all_of_it.append(line)
                if time.monotonic() - last > 20:
                    last = time.monotonic()
                    self.say(f"  {line.strip()[:150]}")
        assert running.returncode == 0, "".join(all_of_it[-60:])

    def health(self) -> dict[str, str]:
        """Return the health of each container by service and number."""
        containers = [json.loads(line) for line in self.compose("ps", "--all", "--format", "json").splitlines()]
        return {
            container["Name"].removeprefix("tute-league-"): container["Health"] or container["State"]
            for container in containers
        }

    def rows(self, query: str) -> list[list[str]]:
        """Ask the database."""
        words = (
            "exec",
            "-T",
            "postgres",
            "psql",
            "--username=tute",
            "--dbname=tute",
            "--csv",
            "--tuples-only",
            f"--command={query}",
        )
        return [line.split(",") for line in self.compose(*words).splitlines()]

    # ---- what people do, through the proxy

    def curl_command(self, path: str, *words: str) -> list[str]:
        """Return the command that asks the site through the proxy, over TLS, as a browser with cookies does."""
        jar = str(self.outside / "jar")
        command = [
            "curl",
            "--silent",
            "--show-error",
            "--cacert",
            str(self.outside / "fullchain.pem"),
            "--cookie",
            jar,
            "--cookie-jar",
            jar,
        ]
        return [
            *command,
            *("--resolve", f"{NAME}:{TLS}:127.0.0.1", "--max-time", "120", f"https://{NAME}:{TLS}{path}"),
            *words,
        ]

    def curl(self, path: str, *words: str, fails: bool = False) -> str:
        """Ask the site and return its answer."""
        process = subprocess.run(self.curl_command(path, *words), capture_output=True, text=True)
        assert fails or process.returncode == 0, process.stderr
        return process.stdout

    def api(self, path: str, data: dict[str, Any] | None = None, **files: str) -> Any:
        """Ask the API with the player's token."""
        words = ["--header", f"Authorization: Bearer {self.token}"]
        if data is not None:
            words += ["--json", json.dumps(data)]
        words += [word for name, value in files.items() for word in ("--form", f"{name}={value}")]
        answer = json.loads(self.curl(f"/api/v1{path}", *words))
        assert "what_to_do" not in answer, answer
        return answer

    def cup(self, name: str, boards: int) -> str:
        """Start a round robin of four bots; its address in the API."""
        entered = ["rufo", "random", "greedy", "counting"]
        self.api("/tournaments", {"name": name, "game": "partnership", "boards": boards, "bots": entered})
        where = f"/tournaments/{name.lower()}"
        self.api(f"{where}/start", {})
        return where

    def finish(self, where: str) -> None:
        """Wait for the end of a tournament, of which no match may be void."""
        wait_for(lambda: self.api(where)["status"] == "finished", f"the end of {where}: {self.health()}", LONG, every=2)
        assert self.rows("SELECT count(*) FROM league_match WHERE status = 'void'") == [["0"]]
        self.say(f"  finished: {self.manage('check_invariants').strip()}")

    def playing(self) -> None:
        """Wait until a match is in the middle of its boards."""
        query = "SELECT count(*) FROM league_match WHERE status = 'running' AND kind = 'tournament'"
        wait_for(lambda: self.rows(query) != [["0"]], "a match that is being played", LONG, every=0.5)


# ---- the steps


def fresh(site: Site) -> None:
    """Reset the clone, check what docker compose says before docker/prepare ran, and prepare it."""
    if (site.folder / "docker-compose.yml").exists() and (site.folder / ".env").exists():
        site.compose("down", "--volumes", "--remove-orphans")
    site.checkout("")
    subprocess.run(["rm", "-rf", "docker/secrets", "docker/league.env", ".env"], cwd=site.folder, check=True)
    output = site.compose("up", "--detach", fails=True)
    assert "run docker/prepare first" in output, output
    site.say("before docker/prepare docker compose names it")
    site.prepare()


def build(site: Site) -> None:
    """Build the image: one, with labels, no larger than documented."""
    before = set(site.docker("images", "--quiet", "--filter", "dangling=true").split())
    site.build()
    site.say("docker compose build")
    (image,) = json.loads(site.docker("image", "inspect", "tute-league"))
    (base,) = json.loads(site.docker("image", "inspect", "python:3.13-slim-bookworm"))
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=site.folder, check=True, capture_output=True, text=True
    ).stdout.strip()
    labels = image["Config"]["Labels"]
    assert labels["org.opencontainers.image.revision"] == head
    assert labels["org.opencontainers.image.version"] == VERSION
    assert image["Config"]["User"] == "1000:1000"
    own = (image["Size"] - base["Size"]) / 1e6
    site.say(
        f"image {image['Size'] / 1e6:.0f} MB, {own:.0f} of them upon its base; version {labels['org.opencontainers.image.version']} of {head[:8]}"
    )
    assert own < MOST_OWN
    assert image["Size"] / 1e6 < MOST
    assert len(set(site.docker("images", "--quiet", "--filter", "dangling=true").split()) - before) <= 1, (
        "one service builds"
    )


MOST, MOST_OWN = 480, 330  # MB, in all and upon the base; docs/operations/install.md says of what


def up(site: Site) -> None:
    """Check that every service is healthy, several workers among them, and that the site knows its commit and serves hashed files."""
    before = set(site.docker("volume", "ls", "--quiet").split())  # An older release may have left some.
    site.compose("up", "--detach", "--wait", "--wait-timeout", str(LONG))
    health = site.health()
    assert health.pop("migrate-1") == "exited"
    assert set(health.values()) == {"healthy"}, health
    assert len([name for name in health if name.startswith("worker")]) == WORKERS
    added = set(site.docker("volume", "ls", "--quiet").split()) - before
    assert not [name for name in added if re.fullmatch("[0-9a-f]{64}", name)], "no volume without a name"
    site.say(f"docker compose up: {len(health)} containers healthy, {WORKERS} workers")
    # It came up as the file stands; from now on it need not wait as long.
    site.files = "docker-compose.yml:/srv/outside/soon.yml"


def proxy(site: Site) -> None:
    """Run the proxy that we ship, with the names and ports of this machine."""
    here = site.outside
    if not (here / "fullchain.pem").exists():
        words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", f"/CN={NAME}"]
        words += ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", "privkey.pem", "-out", "fullchain.pem"]
        subprocess.run(words, cwd=here, check=True, capture_output=True)
    text = (site.folder / "docker" / "proxy" / "nginx.conf").read_text()
    for old, new in (
        ("league.example", NAME),
        (f"/etc/ssl/{NAME}", "/srv/outside"),
        ("127.0.0.1:8000", f"127.0.0.1:{SITE}"),
        ("listen 443", f"listen {TLS}"),
        ("listen 80;", f"listen {PLAIN};"),
    ):
        assert old in text
        text = text.replace(old, new)
    (here / "nginx.conf").write_text(text)
    subprocess.run(
        [DAEMON, "docker", "rm", "--force", "tute-proxy"], capture_output=True, env={**os.environ, "FOLDER": "site"}
    )
    mounts = ("--volume=/srv/outside:/srv/outside:ro", "--volume=/srv/outside/nginx.conf:/etc/nginx/nginx.conf:ro")
    site.docker("run", "--detach", "--name=tute-proxy", "--network=host", *mounts, "nginx:bookworm")
    wait_for(lambda: site.curl("/readyz", fails=True) == "ok\n", "the site behind its proxy", 120, every=1)
    assert site.curl("/", "--output", "/dev/null", "--write-out", "%{http_code} %{http_version}") == "200 2"
    version = json.loads(site.curl("/version"))
    assert version["compiled"] is True
    assert (
        version["commit"]
        == site.docker(
            "image",
            "inspect",
            "--format",
            '{{index .Config.Labels "org.opencontainers.image.revision"}}',
            "tute-league",
        ).strip()
    )
    (sheet,) = set(re.findall(r"/static/league/site\.[0-9a-f]{12}\.css", site.curl("/")))
    headers = site.curl(sheet, "--head", "--header", "Accept-Encoding: br").lower()
    assert "content-encoding: br" in headers
    assert "immutable" in headers
    site.say(
        f"through docker/proxy/nginx.conf, by HTTP/2: commit {version['commit'][:8]}, rules compiled, {sheet} as brotli and for ever"
    )


def play(site: Site) -> None:
    """Sign up, submit, validation, a round robin in which a worker is killed, and its changes on the live page."""
    (site.outside / "jar").unlink(missing_ok=True)
    form = site.curl("/accounts/signup/")
    (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', form))
    sent = {"csrfmiddlewaretoken": token, "name": "rosa", "password": "una clave larga 1"}
    origin = f"https://{NAME}:{TLS}"
    words = [
        "--data",
        urllib.parse.urlencode(sent),
        "--header",
        f"Origin: {origin}",
        "--header",
        f"Referer: {origin}/accounts/signup/",
    ]
    assert site.curl("/accounts/signup/", *words, "--output", "/dev/null", "--write-out", "%{http_code}") == "302"
    site.say("signed up")
    site.token = site.manage("create_token", "rosa", "--scope", "manage").strip().splitlines()[-1]
    (site.outside / "rufo.py").write_text(first_bot())
    site.api("/bots/rufo/versions", file=f"@{site.outside / 'rufo.py'}", games="partnership")
    site.manage("enter_house", "random", "greedy", "counting")
    pending = "SELECT count(*) FROM league_botversion WHERE status = 'validating'"
    wait_for(lambda: site.rows(pending) == [["0"]], f"the validation: {site.health()}", LONG, every=2)
    versions = site.rows(
        "SELECT b.slug, v.status, v.fault FROM league_botversion v JOIN league_bot b ON b.id = v.bot_id ORDER BY 1"
    )
    assert versions == [[name, "accepted", ""] for name in ("counting", "greedy", "random", "rufo")], versions
    site.say("four bots submitted and validated")

    live = site.curl_command("/live?topic=matches&topic=tournaments", "--no-buffer", "--max-time", str(2 * LONG))
    with subprocess.Popen(live, stdout=subprocess.PIPE, text=True) as listening:
        try:
            where = cup_with_a_kill(site)
        finally:
            listening.terminate()
        changes = listening.communicate()[0].count("event: change")
    assert changes >= 2, changes
    site.say(f"a round robin of {site.api(where)['matches']} matches; {changes} changes on /live")


def cup_with_a_kill(site: Site) -> str:
    """Play a round robin, and kill a worker in the middle of a match of it. Return its address in the API."""
    where = site.cup("First", 20)
    site.playing()
    kill = "import os, signal\nfor one in filter(str.isdigit, os.listdir('/proc')):\n    said = open(f'/proc/{one}/cmdline').read()\n"
    kill += "    if 'manage.py' in said and 'keep' not in said: os.kill(int(one), signal.SIGKILL)\n"
    busy = site.rows("SELECT worker FROM league_match WHERE status = 'running' AND kind = 'tournament' LIMIT 1")[0][
        0
    ].partition(":")[0]
    site.docker("exec", busy, "python", "-c", kill)
    site.say(f"killed the worker of container {busy} in the middle of a match")
    site.finish(where)
    assert "ended with code 137, and restarts in 1 s" in site.compose("logs", "--no-color", "worker")
    return where


def mail(site: Site) -> None:
    """Web and scheduler send letters; a worker knows no mail server, and reaches none."""
    address = subprocess.run(["hostname", "-I"], check=True, capture_output=True, text=True).stdout.split()[0]
    with Inbox("0.0.0.0") as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        (site.folder / "docker" / "secrets" / "mail_url").write_text(f"smtp://{address}:{port}?tls=no")
        site.compose("up", "--detach", "--wait", "--force-recreate", "--no-deps", "web", "scheduler")
        for number, name in enumerate(("web", "scheduler"), 1):
            site.compose("exec", "-T", name, "python", "manage.py", "sendtestemail", f"{name}@example.org")
            assert [letter["To"] for letter in server.read][number - 1] == f"{name}@example.org"
        reach = f"import socket; socket.create_connection(({address!r}, {port}), 5)"
        assert "unreachable" in site.compose("exec", "-T", "worker", "python", "-c", reach, fails=True)
        assert "MAIL" not in site.compose("exec", "-T", "worker", "env")
        server.shutdown()
    site.say("web and scheduler sent a letter each; a worker reaches no mail server and knows none")


def servers(site: Site) -> None:
    """PostgreSQL and Redis are started again in the middle of matches: nothing is lost, and the log stays short."""
    where = site.cup("Second", 20)
    site.playing()
    since = site.docker("run", "--rm", "--entrypoint", "date", "tute-league", "+%Y-%m-%dT%H:%M:%SZ").strip()
    site.compose("restart", "postgres")
    site.compose("restart", "redis")
    site.say("restarted postgres and redis")
    site.finish(where)
    logged = site.compose("logs", "--no-color", "--no-log-prefix", "--since", since, "web", "scheduler", "worker")
    lines = logged.replace("\x1b[2K", "").splitlines()  # compose clears the line before it writes
    assert "Traceback" not in logged, logged
    site.say(f"  {len(lines)} lines in the log meanwhile, no traceback")
    odd = [line for line in lines if not line.startswith("{") and not line.startswith("docker/keep")]
    assert odd == [], "LOG_FORMAT=json: every line is an object"


def down(site: Site) -> None:
    """Docker compose down and up in the middle of a match: what was played stands, and no attempt is lost."""
    where = site.cup("Third", 30)
    site.playing()
    site.compose("down")
    site.say("down in the middle of a match")
    up(site)
    site.finish(where)
    assert site.rows(
        "SELECT max(attempts) FROM league_match m JOIN league_tournament t ON t.id = m.tournament_id WHERE t.slug = 'third'"
    ) == [["1"]]


def backup(site: Site) -> None:
    """Run the very lines of docs/operations/backup.md."""
    section = (
        (site.folder / "docs" / "operations" / "backup.md")
        .read_text()
        .partition("\n## Backup and restore\n")[2]
        .partition("\n## ")[0]
    )
    dump, *restore = [
        line.strip().partition(" #")[0] for line in section.splitlines() if line.startswith("    docker compose ")
    ]
    count = "SELECT (SELECT count(*) FROM league_match WHERE status = 'finished'), (SELECT count(*) FROM league_board)"
    before = site.rows(count)
    for line in (dump, *restore):
        words = line.removeprefix("docker compose ")
        if ">" in words:
            (site.outside / "league.dump").write_bytes(raw(site, words.partition(" > ")[0]))
        elif "<" in words:
            raw(site, words.partition(" < ")[0], (site.outside / "league.dump").read_bytes())
        else:
            site.compose(*words.split())
    assert site.rows(count) == before
    site.say(
        f"backup and restore by the lines of the document: {before[0][0]} matches and {before[0][1]} boards before and after"
    )
    site.manage("check_invariants")


def raw(site: Site, words: str, data: bytes | None = None) -> bytes:
    """Docker compose with bytes in or out."""
    command = [str(DAEMON), "docker", "compose", *words.split()]
    process = subprocess.run(command, input=data, capture_output=True, env={**os.environ, "FOLDER": "site"})
    assert process.returncode == 0, process.stderr.decode()
    return process.stdout


def crash(site: Site) -> None:
    """Check that a service that crashes at each start becomes unhealthy and `up --wait` fails; mended, it is healthy again.

    It takes two minutes to become unhealthy; meanwhile the tiers are tried.
    """
    broken = site.folder / "broken.yml"
    broken.write_text("services: {scheduler: {command: [docker/keep, python, -c, 'import no_such_module']}}\n")
    words = ("--file", "docker-compose.yml", "--file", broken.name)
    with ThreadPoolExecutor(1) as pool:
        up_failed = pool.submit(site.compose, *words, "up", "--detach", "--wait", "--no-deps", "scheduler", fails=True)
        tiers(site)
        output = up_failed.result()
    assert site.health()["scheduler-1"] == "unhealthy", site.health()
    site.say(f"a scheduler that crashes at its start: {output.strip().splitlines()[-1]}")
    broken.unlink()
    site.compose("up", "--detach", "--wait")
    assert site.health()["scheduler-1"] == "healthy"


def tiers(site: Site) -> None:
    """Try each tier in a container, as docker-compose.yml stands and with the lines that it has as a comment."""

    def holds(text: str) -> dict[str, tuple[bool, bool]]:
        return {tier["name"]: (tier["holds"], tier["seals"]) for tier in json.loads(text)["tiers"]}

    check = ("tute", "sandbox", "check", "--json")
    tiers_held = holds(site.compose("exec", "-T", "worker", *check))
    assert (tiers_held["landlock"], tiers_held["namespaces"]) == ((True, False), (False, False)), tiers_held
    restrictions = (
        "--security-opt=no-new-privileges",
        "--cap-drop=ALL",
        "--read-only",
        "--tmpfs=/tmp",
        "--tmpfs=/var/lib/tute:exec,mode=755,uid=0",
    )
    rights = [f"--cap-add={name}" for name in ("SETUID", "SETGID", "SYS_CHROOT", "KILL")]
    assert holds(site.docker("run", "--rm", "--user=0", *restrictions, *rights, "tute-league", *check))["landlock"] == (
        True,
        True,
    )
    strong = site.folder / "strong.yml"
    words = ["no-new-privileges:true", "seccomp=./docker/seccomp-runner.json"]
    if Path("/sys/kernel/security/apparmor").exists():
        words.append("apparmor=unconfined")
    strong.write_text(f"services: {{worker: {{security_opt: !override {json.dumps(words)}}}}}\n")
    files = ("--file", "docker-compose.yml", "--file", strong.name)
    site.compose(*files, "up", "--detach", "--wait", "--no-deps", "worker")
    tiers_held = holds(site.compose("exec", "-T", "worker", *check))
    assert tiers_held["namespaces"] == (True, True), tiers_held
    site.say(
        "sandbox: landlock holds as it stands, and seals as root; namespaces hold and seal with the profile of the project"
    )
    strong.unlink()


def upgrade(site: Site) -> None:
    """Upgrade from the release before with the commands of docs/operations/backup.md, in the middle of a tournament."""
    before = os.environ.get("BEFORE")
    if not before:
        site.say("upgrade: not tried; BEFORE=COMMIT names the release before")
        return
    site.compose("down", "--volumes")
    site.checkout(before)
    subprocess.run(["rm", "-rf", ".env"], cwd=site.folder, check=True)
    # The file of that release knows no TUTE_PORT
    text = (site.folder / "docker-compose.yml").read_text().replace("127.0.0.1:8000:8000", f"127.0.0.1:{SITE}:8000")
    (site.folder / "docker-compose.yml").write_text(text)
    site.prepare()
    site.build()
    site.compose("up", "--detach", "--wait", "--scale", "worker=2")
    site.say(f"the release before ({before[:8]}) is up")
    wait_for(lambda: site.curl("/readyz", fails=True) == "ok\n", "the site behind its proxy", 300, every=1)
    site.manage("enter_house", "random", "greedy", "counting")
    pending = "SELECT count(*) FROM league_botversion WHERE status = 'validating'"
    wait_for(lambda: site.rows(pending) == [["0"]], f"the validation: {site.health()}", LONG, every=2)
    bots = ("--bot=random", "--bot=greedy", "--bot=counting")
    site.manage("create_tournament", "Fourth", "--owner=house", "--game=partnership", "--boards=200", *bots, "--start")
    site.playing()
    renew(site)


def renew(site: Site) -> None:
    """Put what lies here in place of the release that plays, by the lines of docs/operations/backup.md."""
    ours = "WHERE kind = 'tournament' ORDER BY key"
    matches = site.rows(f"SELECT key FROM league_match {ours}")
    away: list[tuple[float, str]] = []  # Moments without the site, and what came instead.
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            answer = site.curl("/readyz", fails=True)
            if answer != "ok\n":
                away.append((time.monotonic(), answer))

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    site.checkout("")
    site.prepare()
    site.build()
    site.say("built beside the release before, which goes on")
    assert not away, f"the release before answers while the next one is built: {away}"
    site.compose("run", "--rm", "migrate")
    assert not away, f"and while the tables change: {away}"
    site.compose("up", "--detach", "--wait", "--wait-timeout", str(LONG))
    over.set()
    watching.join()
    seconds = away[-1][0] - away[0][0] if away else 0.0
    site.say(f"upgraded; the site was away for {seconds:.0f} s, while the new containers started")
    query = "SELECT DISTINCT status FROM league_tournament"
    wait_for(lambda: site.rows(query) == [["finished"]], f"the end of the tournament: {site.health()}", LONG, every=2)
    assert site.rows(f"SELECT key, status FROM league_match {ours}") == [[key, "finished"] for [key] in matches]
    # What was given back costs none; the worker that `play` kills costs one
    assert site.rows("SELECT count(*) FROM league_match WHERE status = 'void' OR attempts > 2") == [["0"]]
    site.say(f"{len(matches)} matches before, all finished after; {site.manage('check_invariants').strip()}")


STEPS: dict[str, Callable[[Site], None]] = {
    step.__name__: step for step in (fresh, build, up, proxy, play, mail, servers, down, backup, crash, upgrade)
}


def run(*names: str) -> None:
    """Run the named steps, by default all. Raise NoContainersError, or AssertionError with what is wrong."""
    site = Site()
    try:
        for name in names or STEPS:
            if (
                name not in ("fresh", "build", "up", "proxy", "play")
                and not site.token
                and (site.folder / "token").exists()
            ):
                site.token = (site.folder / "token").read_text()
            STEPS[name](site)
            if site.token:
                (site.folder / "token").write_text(site.token)
    finally:
        if not names:
            subprocess.run(
                [DAEMON, "docker", "rm", "--force", "tute-proxy"],
                capture_output=True,
                env={**os.environ, "FOLDER": "site"},
            )
            words = ["compose", "down", "--volumes", "--remove-orphans"]
            subprocess.run([DAEMON, "docker", *words], capture_output=True, env={**os.environ, "FOLDER": "site"})
            subprocess.run([DAEMON, "down"], check=True)
    site.say("all of it holds")


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv) or set(sys.argv[1:]) - set(STEPS):
        sys.exit(f"{__doc__}\nsteps: {', '.join(STEPS)}")
    try:
        run(*sys.argv[1:])
    except NoContainersError as reason:
        print(reason)
        sys.exit(3)

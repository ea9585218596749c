"""manage.py serve."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from gunicorn.app.base import BaseApplication
from gunicorn.sock import create_sockets

from league.domain.core.errors import Refused
from league.management.base import LeagueCommand
from league.management.processes import GaveUp, Supervisor, Work, apart, manage
from league.service.alive import Signs
from league.service.web_worker import STUCK_S, BufferingWorker


class Command(LeagueCommand):
    """Run a whole league."""

    help = (
        "Run web server, workers and scheduler of a league on this machine until Ctrl-C. Migrates the database first."
    )
    example = "manage.py serve --bind 127.0.0.1:8000 --slots 2"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--bind", default="127.0.0.1:8000", help="address and port of the web server")
        parser.add_argument(
            "--slots", type=int, default=min(2, os.cpu_count() or 1), help="matches at a time; 0: web only"
        )
        parser.add_argument("--threads", type=int, default=8, help="requests at a time, in each web process")
        parser.add_argument(
            "--web-processes", type=int, default=1, help="web processes; from 100 tables of people on, 2"
        )
        parser.add_argument("--no-migrate", action="store_true")
        parser.add_argument("--quiet", action="store_true", help="log warnings and errors only")

    def run(self, **options: Any) -> None:
        """Prepare the database and static files, then supervise the processes."""
        if options["slots"] < 0 or options["threads"] < 1 or options["web_processes"] < 1:
            raise Refused("--slots must be at least 0, --threads and --web-processes at least 1")
        check_free(options["bind"])
        apart(lambda: prepare(migrate=not options["no_migrate"]))
        site = EmbeddedSite(options["bind"], options["threads"])
        children = {
            **{f"web-{i}": site.answer for i in range(1, options["web_processes"] + 1)},
            "scheduler": site.leave_to_others(manage("scheduler")),
            **{f"worker-{i}": site.leave_to_others(manage("worker")) for i in range(1, options["slots"] + 1)},
        }
        lines = [f"Tute League on http://{options['bind']}", f"its data in {settings.STATE_DIR}", "Ctrl-C stops it"]
        try:
            if options["quiet"]:
                logging.getLogger().setLevel(logging.WARNING)
            Supervisor(children).run(ready=lambda: self.say(box(lines)), up=lambda: listens(options["bind"]))
        except GaveUp as error:
            raise CommandError(str(error)) from error


def prepare(*, migrate: bool) -> None:
    """Prepare the database and the static files."""
    if migrate:
        call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)


def box(lines: Sequence[str]) -> str:
    """Return lines in a frame that stands out in a log."""
    width = max(map(len, lines))
    bar = f"+{'-' * (width + 2)}+"
    return "\n".join([bar, *(f"| {line:<{width}} |" for line in lines), bar])


def check_free(bind: str) -> None:
    """Raise Refused if the web server could not listen at this address. Addresses other than host:port are left to the server."""
    if bind.startswith("unix:"):
        raise Refused(
            "the site cannot listen on {bind}; write an address and a port, such as 127.0.0.1:8000", bind=bind
        )
    host, _, port = bind.rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        where = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(where[0], where[1]) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(where[4])
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Refused(
            "the site cannot listen on {bind}: {why}. Stop what listens there, or choose another port, such as --bind {host}:{other} "
            "(make serve PORT={other})",
            bind=bind,
            why=why,
            host=host,
            other=int(port) + 1 if 1024 <= int(port) < 65535 else 8001,
        ) from None


def listens(bind: str) -> bool:
    """Return True if the web server accepts connections; for addresses other than host:port, as soon as it has been started."""
    host, _, port = bind.rpartition(":")
    if not host or not port.isdigit():
        return True
    try:
        with socket.create_connection((host.strip("[]").replace("0.0.0.0", "127.0.0.1"), int(port)), timeout=1):  # noqa: S104 - no bind
            return True
    except OSError:
        return False


class EmbeddedSite(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The site as gunicorn sees it, without gunicorn's master: the supervisor is the parent of the web processes, and keeps their sockets."""

    def __init__(self, bind: str, threads: int) -> None:
        """Open the sockets. Requests wait in them while no web process runs."""
        self.options = {"bind": bind, "threads": threads, "loglevel": "warning"}
        super().__init__()
        self.log = self.cfg.logger_class(self.cfg)
        self.sockets = create_sockets(self.cfg, self.log)

    def load_config(self) -> None:
        """Set the options."""
        for name, value in self.options.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Load the league."""
        from league.wsgi import application

        return application

    def answer(self) -> None:
        """Answer requests in this process: in threads, because requests mostly wait for the database."""
        worker = EmbeddedWorker(1, os.getppid(), self.sockets, self, self.cfg.timeout / 2, self.cfg, self.log)
        worker.pid = os.getpid()
        worker.init_process()

    def leave_to_others(self, work: Work) -> Work:
        """Return the work of a process that does not answer requests, and shall not keep the port when the others have ended."""

        def do() -> object:
            for listener in self.sockets:
                listener.sock.close()
            return work()

        return do


class EmbeddedWorker(BufferingWorker):
    """A web process that its own watchdog and the supervisor watch, instead of gunicorn's master."""

    def init_process(self) -> None:
        """Begin to show signs of life."""
        self.signs = Signs("web")
        super().init_process()
        self.signs.close()

    def notify(self) -> None:
        """Show that the loop moves."""
        self.watchdog.note("loop", STUCK_S)
        self.signs.show("loop", STUCK_S)

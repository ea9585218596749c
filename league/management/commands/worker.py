"""manage.py worker."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from league import celery, tasks
from league.domain.core.errors import Refused
from league.domain.playing.process import Machine
from league.domain.playing.upcoming import claim
from league.management.base import LeagueCommand
from league.management.listening import Listener
from league.management.processes import Supervisor, manage


class Command(LeagueCommand):
    """Plays matches."""

    help = (
        "Play matches until stopped (SIGTERM gives the match at hand back at once). It tests the sandbox first; if the "
        "sandbox does not hold, the worker keeps running, plays nothing and says why. "
        "Exit code of --once: 0 played or nothing to do, 1 not playable here."
    )
    example = "manage.py worker --slots 2"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--slots", type=int, default=1, help="matches at a time: processes of one core each")
        parser.add_argument("--once", action="store_true", help="play one match without a broker, then end")

    def run(self, **options: Any) -> None:
        """One Celery worker in this process, or several below it."""
        if options["slots"] < 1:
            raise Refused(f"--slots must be at least 1, not {options['slots']}")
        if options["once"]:
            self._once()
        elif options["slots"] > 1:
            Supervisor({f"worker-{i}": manage("worker") for i in range(1, options["slots"] + 1)}).run()
        else:
            self._listen()

    def _listen(self) -> None:
        machine = tasks.machine()
        listener = Listener(machine.loops, stop=machine.stopping.set)
        try:
            if machine.refusal:
                listener.wait()  # the hints are left to workers that can follow them
            else:
                machine.keep_looking(settings.RECONCILE_S)
                listener.run(celery.MATCHES, [tasks.play_match])
        finally:  # whatever ends it, the league does not count it any longer
            machine.close()
        listener.close()

    def _once(self) -> None:
        machine = Machine(settings.STATE_DIR / "bots")
        machine.open()
        try:
            if machine.unable:
                raise Refused(machine.unable)
            found = claim(machine.name, most=1)
            if not found:
                self.say("no match waits")
                return
            receipt = machine.play(found[0])
            self.say(f"match {found[0].match.public_id}: {receipt or 'given back'}")
        finally:
            machine.close()

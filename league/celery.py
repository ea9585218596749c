"""The Celery app: what a message looks like, where it goes, and the calendar.

Messages are hints. What there is to do stands in the database, so that a message which is lost, late or delivered twice
changes nothing (docs/operations/queue.md, "The queue"). So none is acknowledged: whoever takes one takes it off the queue. Celery's worker takes
them, as `league.management.listening` starts it: it outlives whatever the broker does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from celery import Celery
from celery.schedules import crontab
from kombu import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")

from django.conf import settings

MATCHES = "matches"  # queue of the workers that play
UPKEEP = "upkeep"  # queue of the scheduler: ratings
PATIENCE_S = 1.0  # for one answer of the broker; only threads that do nothing else wait for it


def broker_options(url: str, state_dir: Path) -> dict[str, object]:
    """Transport options for `url`; makes the folder of a file broker."""
    parts = urlsplit(url)
    if parts.scheme == "filesystem":
        folder = Path(parts.path) if parts.path.strip("/") else state_dir / "broker"
        folder.mkdir(parents=True, exist_ok=True)
        place = str(folder)
        return {"data_folder_in": place, "data_folder_out": place, "control_folder": place, "polling_interval": 0.1}
    return {
        "ack_emulation": False,  # no copies of messages in the broker, and nothing that could fail after the work
        "priority_steps": [0],
        "socket_timeout": PATIENCE_S,
        "socket_connect_timeout": PATIENCE_S,
        "health_check_interval": 2,  # a connection that has died without a word is noticed after so many seconds
        "max_retries": 1,
        "interval_start": 0,
    }


def make_queue(name: str) -> Queue:
    """no_ack: a hint that is taken is off the queue; nothing can fail after the work. no_declare: that would write, which a full broker refuses."""
    return Queue(name, exchange=Exchange(""), routing_key=name, durable=True, no_ack=True, no_declare=True)


TRANSPORT_ALIASES["filesystem"] = "league.service.file_broker:Transport"
_path = list(sys.path)
app = Celery("league")
sys.path[:] = _path  # Celery puts the current folder first, where a file may bear the name of a module
app.conf.update(
    broker_url="filesystem://localhost//" if settings.BROKER_URL.startswith("filesystem:") else settings.BROKER_URL,
    broker_transport_options=broker_options(settings.BROKER_URL, settings.STATE_DIR),
    task_queues=[make_queue(MATCHES), make_queue(UPKEEP)],
    task_default_queue=UPKEEP,
    task_default_exchange="",
    task_default_routing_key=UPKEEP,
    task_routes={"league.tasks.play_match": {"queue": MATCHES}},  # everything else is upkeep
    task_ignore_result=True,
    worker_pool="solo",  # one match at a time, in the main thread (league.domain.jobs.worker); more slots are more processes
    worker_concurrency=1,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_cancel_long_running_tasks_on_connection_loss=True,  # those that would be delivered again: none of ours
    task_serializer="json",
    accept_content=["json"],
    beat_schedule={
        "check what must hold": {
            "task": "league.tasks.check_invariants",
            "schedule": crontab(minute=23),
            "kwargs": {"hours": 2},
        },
        "check everything": {
            "task": "league.tasks.check_invariants",
            "schedule": crontab(minute=53, hour=3),
        },
        "mark idle bots": {
            "task": "league.tasks.mark_idle",
            "schedule": crontab(minute=3, hour=0),
        },
        "let replays go": {
            "task": "league.tasks.let_go",
            "schedule": crontab(minute=13, hour=4),
        },
    },
    imports=["league.tasks"],
    # Celery would open a connection to the database for each hint. It is kept, and looked at before each (league.management.listening)
    CELERY_DB_REUSE_MAX=1 << 40,
)
app.set_default()

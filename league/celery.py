"""The Celery app: the format of messages, their queues, and the calendar.

Messages are hints. The work itself is in the database, so a lost, late or repeated message changes nothing (docs/operations/queue.md). Messages are
not acknowledged: taking one removes it from the queue. `league.management.listening` starts Celery's worker, which survives all failures of the
broker.
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
# Django's checks would load every page of the site into each worker; `manage.py check` runs them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from django.conf import settings

from league.service.env import NOTICE_LOSS_OF_REDIS, make_folder

MATCHES = "matches"  # The queue of the workers.
UPKEEP = "upkeep"  # The queue of the scheduler.
PATIENCE_S = 1.0  # The longest wait for one response of the broker; only threads that do nothing else wait for it.


def broker_options(url: str, state_dir: Path) -> dict[str, object]:
    """Return the transport options for `url`; create the folder of a file broker."""
    parts = urlsplit(url)
    if parts.scheme == "filesystem":
        folder = Path(parts.path) if parts.path.strip("/") else state_dir / "broker"
        place = str(make_folder(folder))
        return {"data_folder_in": place, "data_folder_out": place, "control_folder": place, "polling_interval": 0.2}
    return {
        "ack_emulation": False,  # Keep no copies of messages in the broker, so nothing can fail after the work.
        "priority_steps": [0],
        "socket_timeout": PATIENCE_S,
        "socket_connect_timeout": PATIENCE_S,
        **NOTICE_LOSS_OF_REDIS,
        "health_check_interval": 2,  # Seconds until a connection that died silently is noticed.
        "max_retries": 1,
        "interval_start": 0,
    }


def make_queue(name: str) -> Queue:
    """Describe a queue. no_ack: taking a hint removes it. no_declare: declaring would write, which a full broker refuses."""
    return Queue(name, exchange=Exchange(""), routing_key=name, durable=True, no_ack=True, no_declare=True)


TRANSPORT_ALIASES["filesystem"] = "league.service.file_broker:Transport"
_path = list(sys.path)
app = Celery("league")
sys.path[:] = _path  # Celery puts the current folder first, where a file may have the name of a module.
app.conf.update(
    broker_url="filesystem://localhost//" if settings.BROKER_URL.startswith("filesystem:") else settings.BROKER_URL,
    broker_transport_options=broker_options(settings.BROKER_URL, settings.STATE_DIR),
    task_queues=[make_queue(MATCHES), make_queue(UPKEEP)],
    task_default_queue=UPKEEP,
    task_default_exchange="",
    task_default_routing_key=UPKEEP,
    task_routes={"league.tasks.play_match": {"queue": MATCHES}},  # All other tasks are upkeep.
    task_ignore_result=True,
    worker_pool="solo",  # One match at a time, in the main thread (league.domain.jobs.worker); start more processes for more.
    worker_concurrency=1,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    # Only for tasks that would be delivered again; ours are not.
    worker_cancel_long_running_tasks_on_connection_loss=True,
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
        "publish data": {
            "task": "league.tasks.publish_data",
            "schedule": crontab(
                minute=33, hour=1
            ),  # Every night, so that a night without scheduler costs a day, not a month.
        },
    },
    imports=["league.tasks"],
    # Celery would open a database connection for each hint. This keeps it, and it is checked before each hint (league.management.listening).
    CELERY_DB_REUSE_MAX=1 << 40,
)
app.set_default()

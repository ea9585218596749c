"""The Celery app: JSON only, no results, messages acknowledged after the work, one at a time.

Messages are hints. What there is to do stands in the database, so that a message which is lost, late or delivered twice
changes nothing (docs/operations.md, "The queue").
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from celery import Celery
from celery.schedules import crontab
from kombu import Exchange, Queue
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")

from django.conf import settings

MATCHES = "matches"  # queue of the workers that play
UPKEEP = "upkeep"  # queue of the scheduler: reconciling, ratings


def broker_options(url: str, state_dir: Path) -> dict[str, object]:
    """Transport options for `url`; makes the folder of a file broker."""
    parts = urlsplit(url)
    if parts.scheme == "filesystem":
        folder = Path(parts.path) if parts.path.strip("/") else state_dir / "broker"
        folder.mkdir(parents=True, exist_ok=True)
        place = str(folder)
        return {"data_folder_in": place, "data_folder_out": place, "control_folder": place, "polling_interval": 0.1}
    # A hint that was not acknowledged for so long is delivered again, which does no harm.
    return {"visibility_timeout": 3600, "socket_timeout": 10, "socket_connect_timeout": 5}


def _queue(name: str) -> Queue:
    return Queue(name, exchange=Exchange(""), routing_key=name, durable=True)


TRANSPORT_ALIASES["filesystem"] = "league.service.file_broker:Transport"
app = Celery("league")
app.conf.update(
    broker_url="filesystem://localhost//" if settings.BROKER_URL.startswith("filesystem:") else settings.BROKER_URL,
    broker_transport_options=broker_options(settings.BROKER_URL, settings.STATE_DIR),
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    task_publish_retry_policy={"max_retries": 1, "interval_start": 0.1},
    task_queues=[_queue(MATCHES), _queue(UPKEEP)],
    task_default_queue=UPKEEP,
    task_default_exchange="",
    task_default_routing_key=UPKEEP,
    task_routes={"league.tasks.play_match": {"queue": MATCHES}},  # everything else is upkeep
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_serializer="json",
    accept_content=["json"],
    worker_pool="solo",  # one match at a time, in the main thread (league.domain.playing.process); more slots are more processes
    worker_concurrency=1,
    worker_prefetch_multiplier=1,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    worker_hijack_root_logger=False,
    beat_schedule={
        "reconcile": {
            "task": "league.tasks.reconcile",
            "schedule": settings.RECONCILE_S,
            "options": {"queue": UPKEEP, "expires": settings.RECONCILE_S},
        },
        "check what must hold": {
            "task": "league.tasks.check_invariants",
            "schedule": crontab(minute=23),
            "kwargs": {"hours": 2},
            "options": {"queue": UPKEEP, "expires": 3600},
        },
        "check everything": {
            "task": "league.tasks.check_invariants",
            "schedule": crontab(minute=53, hour=3),
            "options": {"queue": UPKEEP, "expires": 3600},
        },
    },
    imports=["league.tasks"],
)
app.set_default()

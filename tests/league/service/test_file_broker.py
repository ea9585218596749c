"""Messages in a folder arrive whole and once, whoever reads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from kombu import Connection

from league import celery

READER = """
import sys
from queue import Empty
from kombu import Connection
from league import celery
options = celery.broker_options("filesystem://" + sys.argv[1], None)
with Connection("filesystem://localhost//", transport_options=options) as link:
    channel = link.default_channel
    while True:
        try:
            print(channel._get("matches")["n"])
        except Empty:
            break
"""


def link(folder: Path) -> Connection:
    return Connection(
        "filesystem://localhost//", transport_options=celery.broker_options(f"filesystem://{folder}", folder)
    )


def test_messages_come_in_order_and_are_counted(tmp_path: Path) -> None:
    with link(tmp_path) as connection:
        channel = connection.default_channel
        for n in range(3):
            channel._put("matches", {"n": n})
        channel._put("upkeep", {"n": 9})

        assert (channel._size("matches"), channel._size("upkeep"), channel._size("other")) == (3, 1, 0)
        assert [channel._get("matches")["n"] for _ in range(3)] == [0, 1, 2]
        assert channel._size("matches") == 0
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.slow
def test_two_readers_get_each_message_once(tmp_path: Path) -> None:
    with link(tmp_path) as connection:
        for n in range(300):
            connection.default_channel._put("matches", {"n": n})
    command = [sys.executable, "-c", READER, str(tmp_path)]
    readers = [subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    got = [int(line) for reader in readers for line in reader.communicate(timeout=60)[0].split()]

    assert [reader.returncode for reader in readers] == [0, 0]
    assert sorted(got) == list(range(300))
    assert list(tmp_path.iterdir()) == []

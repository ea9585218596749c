"""Celery messages as files in a folder: the broker of a league without servers.

Kombu has such a transport, but another process may read a message there that is only half written. Here a message appears and disappears by
renaming, which is atomic, so several processes may use one folder.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from queue import Empty
from time import time_ns
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps, loads

TICK_NS = 1_000_000_000


class FolderChannel(filesystem.Channel):
    """One folder, one file per message: `<time>_<random>.<queue>.msg`."""

    supports_fanout = False
    _quiet: tuple[str, int] = (
        "",
        0,
    )  # The queue that was empty at the last look, and the time of the folder's last change before it.

    # The stubs of kombu's two classes name the second parameter differently.
    def _put(self, queue: str, payload: dict[str, Any], **kwargs: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        name = f"{time_ns():020d}_{uuid.uuid4().hex}.{queue}.msg"
        draft = folder / f".{name}.draft"
        draft.write_text(dumps(payload), encoding="utf-8")
        draft.rename(folder / name)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        folder = Path(self.data_folder_in)
        changed = folder.stat().st_mtime_ns
        if self._quiet == (queue, changed):
            raise Empty
        for name in sorted(path.name for path in folder.iterdir()):
            if name.startswith(".") or not name.endswith(f".{queue}.msg"):
                continue
            claimed = folder / f".{name}.{os.getpid()}"
            try:
                (folder / name).rename(claimed)
            except FileNotFoundError:
                continue  # Another process took this message.
            text = claimed.read_text(encoding="utf-8")
            claimed.unlink()
            payload: dict[str, Any] = loads(text)
            return payload
        # Two changes within a tick of the clock may have the same time.
        self._quiet = (queue, changed) if time_ns() - changed > TICK_NS else ("", 0)
        raise Empty

    def _size(self, queue: str) -> int:
        names = [path.name for path in Path(self.data_folder_in).iterdir()]
        return sum(not name.startswith(".") and name.endswith(f".{queue}.msg") for name in names)


class Transport(filesystem.Transport):
    """Kombu transport over `FolderChannel`."""

    Channel = FolderChannel

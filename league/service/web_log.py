"""What gunicorn writes, in the form of everything else (LOG_FORMAT): its own lines, and one for each request.

`gunicorn --logger-class league.service.web_log.Logger`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from gunicorn.glogging import Logger as Theirs

from league.service import logs
from league.service.env import envbool

NUMBER = "x-request-id"


class Logger(Theirs):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn's, with our formatters."""

    def setup(self, cfg: Any) -> None:
        """As gunicorn asks for it, at the start and whenever it reads its settings again."""
        super().setup(cfg)
        logging.captureWarnings(True)
        self._believes = envbool("TRUST_PROXY", False)
        for log in (self.error_log, self.access_log):
            for handler in log.handlers:
                if getattr(handler, "_gunicorn", False):
                    handler.setFormatter(logs.formatter())

    def access(self, resp: Any, req: Any, environ: Mapping[str, Any], request_time: timedelta) -> None:
        """One line for a request that is answered: who asked for what, with which answer, and the number under which other lines tell of it."""
        if not self.access_log_enabled:
            return
        status = str(resp.status).split(None, 1)[0]
        asked = f"{environ['REQUEST_METHOD']} {environ['RAW_URI']} {environ['SERVER_PROTOCOL']}"
        told = {
            "address": self._address(environ),
            "method": environ["REQUEST_METHOD"],
            "path": environ["PATH_INFO"],
            "status": int(status),
            "bytes": None if resp.sent is None else int(resp.sent),
            "ms": round(request_time / timedelta(milliseconds=1), 1),
            "agent": environ.get("HTTP_USER_AGENT", ""),
        }
        number = next((value for name, value in resp.headers if name.lower() == NUMBER), None)
        with logs.about(request=number):
            self.access_log.info(
                '%s "%s" %s %s %.0f ms', told["address"], asked, status, resp.sent or "-", told["ms"], extra=told
            )

    def _address(self, environ: Mapping[str, Any]) -> str:
        """Of the client, as a proxy of ours says; else of whoever has connected."""
        said = environ.get("HTTP_X_FORWARDED_FOR", "") if self._believes else ""
        return said.rpartition(",")[2].strip() or environ.get("REMOTE_ADDR", "-")

"""The log of gunicorn in the form of LOG_FORMAT: gunicorn's own lines, and a line for each request.

`gunicorn --logger-class league.service.web_log.Logger`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from gunicorn.glogging import Logger as Theirs

from league.service import logs
from league.service.env import envproxies

NUMBER = "x-request-id"


class Logger(Theirs):  # type: ignore[misc]  # gunicorn has no types
    """The logger of gunicorn with our formatters."""

    def setup(self, cfg: Any) -> None:
        """Set the formatters, at the start and whenever gunicorn reads its settings again."""
        super().setup(cfg)
        logging.captureWarnings(True)
        self._trusts_proxy = bool(envproxies("TRUST_PROXY"))
        for log in (self.error_log, self.access_log):
            for handler in log.handlers:
                if getattr(handler, "_gunicorn", False):
                    handler.setFormatter(logs.formatter())

    def access(self, resp: Any, req: Any, environ: Mapping[str, Any], request_time: timedelta) -> None:
        """Log one answered request: client, address, status, and the id that its other lines carry."""
        if not self.access_log_enabled:
            return
        status = str(resp.status).split(None, 1)[0]
        request = f"{environ['REQUEST_METHOD']} {environ['RAW_URI']} {environ['SERVER_PROTOCOL']}"
        fields = {
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
                '%s "%s" %s %s %.0f ms',
                fields["address"],
                request,
                status,
                resp.sent or "-",
                fields["ms"],
                extra=fields,
            )

    def _address(self, environ: Mapping[str, Any]) -> str:
        """Return the address of the client as our proxy reports it, otherwise that of the connection."""
        chain = environ.get("HTTP_X_FORWARDED_FOR", "") if self._trusts_proxy else ""
        return chain.rpartition(",")[2].strip() or environ.get("REMOTE_ADDR", "-")

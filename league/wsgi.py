"""The WSGI application: `gunicorn league.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django = get_wsgi_application()

from league.response_cache import ResponseCache  # noqa: E402 - it reads the settings

application = ResponseCache(django)

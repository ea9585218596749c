"""Settings of the league, all from the environment (docs/operations/reference.md lists every variable).

With no variable set this is the embedded league: SQLite and a file broker under STATE_DIR, one machine, one command. With DATABASE_URL and BROKER_URL
it is the production league: PostgreSQL, Redis, any number of workers.
"""

from pathlib import Path

from django.utils.translation import gettext_lazy as _

from league.api.http.settings import REST_FRAMEWORK, SPECTACULAR_SETTINGS  # noqa: F401 - read by those libraries
from league.service.env import (
    data_home,
    database,
    envbool,
    envint,
    envlist,
    envproxies,
    envsecret,
    envstr,
    mail_server,
    make_folder,
    passkey_origin,
)

BASE_DIR = Path(__file__).resolve().parent.parent
IN_CLONE = (BASE_DIR / "manage.py").is_file()  # Otherwise this is an installed package.
STATE_DIR = Path(envstr("STATE_DIR") or (BASE_DIR / "var" if IN_CLONE else data_home())).resolve()
make_folder(STATE_DIR)

DEBUG = envbool("DEBUG", False)
# Embedded: no database URL is set, so this is one person's machine. Only there a key is generated and stored automatically.
EMBEDDED = envstr("DATABASE_URL") is None
SECRET_KEY = envsecret("SECRET_KEY", keep_in=STATE_DIR / "secret_key" if DEBUG or EMBEDDED else None)
ALLOWED_HOSTS = envlist("ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = envlist("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "django_celery_beat",
    "league",
]
MIDDLEWARE = [
    "league.service.middleware.request_id",
    "league.service.middleware.probes",
    "django.middleware.security.SecurityMiddleware",
    "league.service.middleware.response_headers",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",  # Pages are tables; Django pads the responses against BREACH.
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "league.service.middleware.unread",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "league.web.common.viewers.SessionAccounts",
    "django.contrib.messages.middleware.MessageMiddleware",
    "league.web.common.limits.RateLimits",
    "league.service.middleware.NullCharacters",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "league.urls"
WSGI_APPLICATION = "league.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {"default": database(envstr("DATABASE_URL") or f"sqlite://{STATE_DIR}/league.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
BROKER_URL = envstr("BROKER_URL") or "filesystem://"
CACHE_URL = envstr("CACHE_URL") or (BROKER_URL if BROKER_URL.startswith("redis") else "")
CACHES = {
    "default": {"BACKEND": "league.service.cache.GuardedCache", "LOCATION": CACHE_URL, "KEY_PREFIX": "tute"}
    if CACHE_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 20_000}}
}

LANGUAGE_CODE = "en"  # The language of pages for browsers that ask for neither Spanish nor English.
LANGUAGES = [("es", _("Spanish")), ("en", _("English"))]
LOCALE_PATHS = [BASE_DIR / "league" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
# The image has its static files beside the state folder, where no volume hides them.
STATIC_ROOT = Path(envstr("STATIC_ROOT") or STATE_DIR / "static").resolve()
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "league.service.static_storage.HashedStaticFiles"},
}
WHITENOISE_USE_FINDERS = True  # Serves files before collectstatic has run, too.

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
GUEST_COOKIE_NAME = "guest"  # Signed; has the key of a table without an account (league.web.common.guests).
SESSION_ENGINE = "league.domain.people.sessions"
CSRF_FAILURE_VIEW = "league.csrf.csrf_failure"
PASSWORD_RESET_TIMEOUT = 3600  # Seconds for which a link is valid.
MAIL = bool(envstr("MAIL_URL"))  # True if mail can be sent.
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD, EMAIL_USE_SSL, EMAIL_USE_TLS = mail_server(
    envstr("MAIL_URL")
)
EMAIL_TIMEOUT = 10  # Seconds.
DEFAULT_FROM_EMAIL = envstr("MAIL_FROM") or f"league@{ALLOWED_HOSTS[0].lstrip('.*') if ALLOWED_HOSTS else 'localhost'}"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "home"

# Only with https: the embedded league uses plain http on this machine, where a secure cookie would lock everybody out.
HTTPS = envbool("HTTPS", not (DEBUG or EMBEDDED))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
PASSKEY_ORIGIN = passkey_origin(envstr("PASSKEY_ORIGIN"), ALLOWED_HOSTS, https=HTTPS)  # "": no passkeys.
SECURE_HSTS_SECONDS = envint("HSTS_SECONDS", 31_536_000, least=0) if HTTPS else 0
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
PROXIES = envproxies("TRUST_PROXY")
TRUST_PROXY = bool(PROXIES)
if TRUST_PROXY:  # Our proxy sets these headers and strips those that clients send.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# Plain http requests from a proxy or a probe are answered directly.
HTTPS_REDIRECT = SECURE_SSL_REDIRECT = envbool("HTTPS_REDIRECT", False)
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics|version)$"]
DEVICES = (
    "accelerometer",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
)
PERMISSIONS_POLICY = ", ".join(
    f"{name}=()" for name in (*DEVICES, "payment", "screen-wake-lock", "usb", "xr-spatial-tracking")
)
OWN_FILES = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'"
CONTENT_SECURITY_POLICY = f"{OWN_FILES}; frame-ancestors 'none'"
FRAMED_SECURITY_POLICY = f"{OWN_FILES}; frame-ancestors *"  # For the pages that other sites may show in a frame.

# ---- the league
SANDBOX_TIER = envstr("SANDBOX_TIER") or "auto"  # "auto", or the name of one of engine.sandbox.TIERS.
SANDBOX_MIN_TIER = envstr("SANDBOX_MIN_TIER") or "landlock"  # Below this tier a worker refuses to play.
# True if the passes of a match that counts begin on a fixed grid where a bot plays unsealed (docs/fairness.md).
WEBHOOKS_PRIVATE = envbool("WEBHOOKS_PRIVATE", False)  # True: webhooks may also use http and private addresses.
PASSES_APART = envbool("PASSES_APART", False)
# Percent of the conversations of finished matches that are audited.
AUDIT_PERCENT = envint("AUDIT_PERCENT", 3, least=0)
# Limits of one analysis, made in idle time (league.domain.judgements): CPU seconds, and deals over which a fair analysis averages each decision.
JUDGE_CPU_S = envint("JUDGE_CPU_S", 300, least=1)
JUDGE_DEALS = envint("JUDGE_DEALS", 12, least=2)
# The most puzzles a day from the league's own matches; 0: none.
PUZZLES_PER_DAY = envint("PUZZLES_PER_DAY", 20, least=0)
# The wheel has a copy of the documents inside the package (setup.py).
DOCS = BASE_DIR / "docs" if IN_CLONE else BASE_DIR / "league" / "docs"
# A file from `tute puzzles find` with puzzles for people and bots; empty: no puzzles (league.domain.puzzles).
PUZZLES = envstr("PUZZLES", str(BASE_DIR / "bots" / "puzzles.jsonl"))
PUZZLES = PUZZLES and str(Path(PUZZLES).absolute())  # A process may change its folder.
# A worker takes no match while the disk of STATE_DIR has less free space.
DISK_FREE_MB = envint("DISK_FREE_MB", 256, least=0)
# The most megabytes of unpacked bots and runtimes that no worker is using.
UNPACKED_MB = envint("UNPACKED_MB", 4096, least=0)
# Days until the replays of a finished match are removed, by its purpose; 0: never. Results stay (league.domain.matches.logs).
KEEP_DAYS = {
    "rated": envint("KEEP_RATED_DAYS", 0, least=0),
    "unrated": envint("KEEP_UNRATED_DAYS", 0, least=0),
    "validation": envint("KEEP_VALIDATION_DAYS", 180, least=0),
}
# Tables of people (league.domain.tables): the most in the league (0 switches them off), and the most on one worker, besides its match.
TABLES = envint("TABLES", 100, least=0)
# The most of these tables for guests without an account (0: only players may sit down); one network gets half of them.
GUEST_TABLES = min(TABLES, envint("GUEST_TABLES", TABLES // 2, least=0))
# A guest's table is abandoned after this many seconds without an answer.
GUEST_AWAY_S = envint("GUEST_AWAY_S", 600, least=1)
TABLES_PER_WORKER = envint("TABLES_PER_WORKER", 2, least=0)
# A person's table releases its worker after this many seconds of thinking.
TABLE_REST_S = envint("TABLE_REST_S", 60, least=1)
TABLE_AWAY_S = envint("TABLE_AWAY_S", 1800, least=1)  # A table is abandoned after this many seconds without an answer.
# Remote bots (league.domain.remote): the most of their matches on one worker, beside its match (0: none), and the most at a time of one bot.
REMOTE_PER_WORKER = envint("REMOTE_PER_WORKER", 4, least=0)
VOLUNTEER_CHECKS = envint("VOLUNTEER_CHECKS", 10, least=1)  # Percent of a volunteer's results that workers repeat.
REMOTE_MATCHES = envint("REMOTE_MATCHES", 4, least=1)
# Hosts (HOST or HOST:PORT; *: any) from which workers fetch bots with Git (league.domain.bots.fetches), and more that may have addresses that are
# not public. None at all: nothing is fetched.
GIT_HOSTS = envlist("GIT_HOSTS", [])
GIT_PRIVATE_HOSTS = envlist("GIT_PRIVATE_HOSTS", [])
# People in an arena (league.domain.arenas): seconds between two draws; seconds after which a bot comes if no person waits; seconds that who gives a
# hand up is not paired, about as long as a hand takes.
ARENA_DRAW_S = envint("ARENA_DRAW_S", 2, least=1)
ARENA_WAIT_S = envint("ARENA_WAIT_S", 5, least=0)
ARENA_REST_S = envint("ARENA_REST_S", 120, least=0)
TALK = envbool("TALK", True)  # False: a league without comments.
# Hours after which a new account may write comments; three times as long without a confirmed email address.
TALK_AFTER_HOURS = envint("TALK_AFTER_HOURS", 24, least=0)
LADDERS = envbool("LADDERS", True)  # True if the league plays standing ladders in idle time.
# Seconds that a house bot rests at least between two tables of a ladder. On one person's machine nobody waits for them.
HOUSE_REST_S = envint("HOUSE_REST_S", 3600 if EMBEDDED else 0, least=0)
LEASE_S = envint("LEASE_S", 30, least=2)  # A worker loses its match after this many seconds without a heartbeat.
# Attempts of a match that may fail by a fault of ours before it is void.
MAX_ATTEMPTS = envint("MAX_ATTEMPTS", 5, least=1)
RECONCILE_S = envint("RECONCILE_S", 10, least=1)  # Seconds between two runs of the scheduler.
# Larger pools are counted at once, and refitted and ranked later (docs/ratings.md, "In stages").
RATINGS_AT_ONCE = envint("RATINGS_AT_ONCE", 300, least=0)
RATINGS_FIT_S = envint("RATINGS_FIT_S", 3, least=1)  # Seconds between two fits of all strengths of such a pool.
# Seconds between two computations of intervals, ranks and superiority.
RATINGS_RANK_S = envint("RATINGS_RANK_S", 30, least=1)
UPLOADS_PER_HOUR = envint("UPLOADS_PER_HOUR", 20, least=1)  # The most uploads of one player.
# Defaults for each player; `manage.py set_quota` sets another limit for one of them (league.domain.people.quotas).
QUOTA_BOARDS = envint("QUOTA_BOARDS", 100_000, least=1)  # Queued.
QUOTA_TOURNAMENTS = envint("QUOTA_TOURNAMENTS", 20, least=1)  # Unfinished; events and circuits count.
QUOTA_BOTS = envint("QUOTA_BOTS", 30, least=1)  # The most bots that are not retired.
QUOTA_VALIDATIONS = envint("QUOTA_VALIDATIONS", 20, least=1)  # Uploads waiting for validation.
QUOTA_REQUESTS = envint("QUOTA_REQUESTS", 100, least=1)  # Per day, for bots of other players.
QUOTA_CHALLENGES = envint("QUOTA_CHALLENGES", 20, least=1)  # Per day.
QUOTA_JUDGEMENTS = envint("QUOTA_JUDGEMENTS", 20, least=0)  # Per day.
QUOTA_TRIES = envint("QUOTA_TRIES", 60, least=1)  # Per hour, of texts in the editor.
GUEST_TRIES = envint(
    "GUEST_TRIES", 4, least=0
)  # The most tries of visitors without an account at the same time; one network gets half of them.
GUEST_TRIES_PER_HOUR = envint(
    "GUEST_TRIES_PER_HOUR", 240, least=1
)  # The most tries of all visitors together in an hour; one network gets half of them.
QUOTA_SERIES = envint("QUOTA_SERIES", 20, least=0)  # Per hour, of 20 boards each, in the editor.
QUOTA_TABLES = envint("QUOTA_TABLES", 30, least=1)  # Started per hour.
QUOTA_COMMENTS = envint("QUOTA_COMMENTS", 20, least=0)  # Per hour.
QUOTA_REPORTS = envint("QUOTA_REPORTS", 20, least=0)  # Reports of comments per day.
QUOTA_MEGABYTES = envint("QUOTA_MEGABYTES", 200, least=1)  # The most megabytes of all uploads.
VALIDATION_BOARDS = envint("VALIDATION_BOARDS", 1, least=1)
# The house bot that stands at 1000 Elo in every pool where it has played.
ANCHOR_BOT = envstr("ANCHOR_BOT") or "greedy"
MAX_BOARDS = envint("MAX_BOARDS", 256, least=1)  # The most boards of one match.
MAX_ENTRIES = envint("MAX_ENTRIES", 256, least=2)  # The most entries of one tournament.

# The most connections of one web process that wait for changes of a page (league.service.live).
LIVE_LISTENERS = envint("LIVE_LISTENERS", 1000, least=0)
# The most such connections of one address; a school is one address.
LIVE_PER_ADDRESS = envint("LIVE_PER_ADDRESS", 60, least=0)

# Requests and seconds of each rate limit; league.web.common.limits says whose requests are counted together. For the API see
# league.api.http.settings.
MINUTE, HOUR = 60, 3600
LIMITS = {
    "login": (envint("LOGINS_PER_MINUTE", 30, least=1), MINUTE),
    "signup": (envint("SIGNUPS_PER_HOUR", 60, least=1), HOUR),
    "guest": (envint("GUEST_TABLES_PER_HOUR", 720, least=1), HOUR),
    "guest-try": (envint("GUEST_TRIES_PER_ADDRESS", 60, least=1), HOUR),
    "password": (envint("LOGINS_PER_MINUTE", 30, least=1), MINUTE),
    "account": (envint("ACCOUNT_TRIES_PER_HOUR", 30, least=1), HOUR),
    "download": (envint("DOWNLOADS_PER_MINUTE", 60, least=1), MINUTE),
    "change": (envint("CHANGES_PER_MINUTE", 60, least=1), MINUTE),
    "heavy": (envint("HEAVY_PAGES_PER_MINUTE", 300, least=1), MINUTE),
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"chosen": {"()": "league.service.logs.formatter"}},
    "filters": {"away": {"()": "league.service.logs.AwayOnce"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "chosen", "filters": ["away"]}},
    "loggers": {  # A line for each task would drown the league's own messages.
        name: {"level": "WARNING"} for name in ("celery.app.trace", "celery.worker.strategy", "celery.beat")
    }
    | {"kombu.connection": {"level": "ERROR"}}  # Kombu warns that the address of a folder has no host name.
    | {"waitress.queue": {"level": "ERROR"}},  # Waitress logs each request that waits for a thread.
    "root": {"handlers": ["stderr"], "level": envstr("LOG_LEVEL") or "INFO"},
}

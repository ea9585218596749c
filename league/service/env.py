"""Settings from the environment, read strictly: a value that cannot be understood stops the start with a message.

`X_FILE` may name a file that holds the value of `X` (as container secrets do), whatever the type of `X`. So no secret needs to be in the
environment itself.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import secrets
import socket
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off", ""})


def envstr(name: str, default: str | None = None) -> str | None:
    """Return the text of `name`, or of the file that `name_FILE` points to, without surrounding white space."""
    file_name = os.environ.get(f"{name}_FILE")
    if file_name:
        if name in os.environ:
            raise ImproperlyConfigured(f"both {name} and {name}_FILE are set; keep one of them")
        try:
            return Path(file_name).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE={file_name!r} cannot be read ({error}); correct the path"
            ) from error
    value = os.environ.get(name)
    return default if value is None else value.strip()


def envbool(name: str, default: bool) -> bool:
    """Return True for 1, true, yes, on; False for 0, false, no, off."""
    value = envstr(name)
    if value is None:
        return default
    if value.lower() in YES:
        return True
    if value.lower() in NO:
        return False
    raise ImproperlyConfigured(f"{name}={value!r} is not a yes or no; write 1 or 0")


def envint(name: str, default: int, *, least: int | None = None) -> int:
    """Return a whole number, not below `least`."""
    value = envstr(name)
    if value is None or value == "":
        return default
    try:
        number = int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number") from None
    if least is not None and number < least:
        raise ImproperlyConfigured(f"{name}={number} is too small; it must be at least {least}")
    return number


def envchoice(name: str, words: tuple[str, ...]) -> str:
    """Return one of some words; the first of them if nothing is set."""
    value = envstr(name) or words[0]
    if value not in words:
        raise ImproperlyConfigured(f"{name}={value!r} is none of {', '.join(words)}")
    return value


def envlist(name: str, default: list[str]) -> list[str]:
    """Return the words of a list separated by commas."""
    value = envstr(name)
    return default if value is None else [word.strip() for word in value.split(",") if word.strip()]


def envproxies(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Return the networks of our proxies: all for 1 (nobody else reaches the site), none for 0, otherwise a list of addresses and networks."""
    value = envstr(name) or "0"
    if value.lower() in (*YES, *NO):
        return (ip_network("0.0.0.0/0"), ip_network("::/0")) if value.lower() in YES else ()
    try:
        return tuple(ip_network(word.strip()) for word in value.split(",") if word.strip())
    except ValueError as error:
        raise ImproperlyConfigured(f"{name}: {error}; write 1, 0, or the addresses of your proxies") from None


def envsecret(name: str, *, keep_in: Path | None) -> str:
    """Return the secret `name`. If none is set, create it once and keep it in the file `keep_in`; refuse if that is None."""
    value = envstr(name)
    if value:
        return value
    if keep_in is None:
        raise ImproperlyConfigured(
            f"{name} is not set. A league in production needs its own: set {name} or {name}_FILE, for example to the "
            f"output of python3 -c 'import secrets; print(secrets.token_urlsafe(50))'"
        )
    return _kept_secret(keep_in)


def _kept_secret(path: Path) -> str:
    """Return the content of `path`, random on first use. If two processes race, the first link wins, and both read its content.

    An empty file (after a full disk, say) is replaced, because nobody may sign with an empty key.
    """
    if _is_empty(path):
        _drop_empty(path)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(50))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # Another process created it first.
        finally:
            draft.unlink()
    return path.read_text(encoding="utf-8").strip()


def _is_empty(path: Path) -> bool:
    """Return True if the file exists and is empty. Another process may remove it at any time."""
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return False


def _drop_empty(path: Path) -> None:
    """Remove an empty file. One process at a time checks, so that nobody removes a file that another one has just written."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if _is_empty(path):
            path.unlink()
    finally:
        os.close(folder)


def make_folder(path: Path) -> Path:
    """Create the folder of STATE_DIR if it is missing. Refuse with one line if that is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(
            f"the folder {path} cannot be created ({error.strerror}): mount its disk writable, make room on it, or set STATE_DIR to another folder"
        ) from error
    return path


def data_home() -> Path:
    """Return the folder of an installed league whose settings name none.

    Root's bots run as other users, who may not enter root's home, so root gets another folder.
    """
    if os.getuid() == 0:
        return Path("/var/lib/tute-league")
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "tute-league"


def mail_server(url: str | None) -> tuple[str, int, str, str, bool, bool]:
    """Return host, port, user, password, TLS at once and STARTTLS of a mail server.

    The forms are `smtp://user:password@host:587`, `smtps://...:465` and `smtp://host:25?tls=no`.
    """
    if not url:
        return "localhost", 25, "", "", False, False
    parts = urlsplit(url)
    secure = dict(parse_qsl(parts.query)).get("tls", "yes").lower() in YES
    try:
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured("MAIL_URL has a port that is not a number") from None
    if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
        raise ImproperlyConfigured("MAIL_URL names no mail server; write smtp://user:password@host:587")
    at_once = parts.scheme == "smtps"
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return parts.hostname, port or (465 if at_once else 587), user, password, at_once, secure and not at_once


def database(url: str) -> dict[str, Any]:
    """Return Django's settings of a database from `sqlite:///path` or `postgresql://user:password@host:port/name?option=value`."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = Path("/" + unquote(parts.path).lstrip("/"))
        if parts.netloc or not path.name:
            raise ImproperlyConfigured(f"DATABASE_URL={url!r} names no file; write sqlite:////absolute/path.sqlite3")
        return _sqlite(path)
    if parts.scheme in ("postgresql", "postgres"):
        return _postgresql(url)
    raise ImproperlyConfigured(
        f"DATABASE_URL has the unknown scheme {parts.scheme!r}; write sqlite:////path or postgresql://user:password@host/name"
    )


def _sqlite(path: Path) -> dict[str, Any]:
    """Return the settings of SQLite for several processes on one machine: readers never wait (WAL), writers queue from the start of a transaction."""
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "CONN_MAX_AGE": envint("CONN_MAX_AGE", 600, least=0),  # To open one takes longer than most queries.
        "NAME": str(path),
        "OPTIONS": {
            # A transaction that begins by reading and then writes would fail at once instead of waiting.
            "transaction_mode": "IMMEDIATE",
            "timeout": 30,  # Seconds to wait for another writer.
            # FULL: a commit returns only when the disk has it; each transaction waits for that.
            # cache_size: KiB for each of some thirty connections. Any commit empties those of all others, and the kernel keeps the file.
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-256;",
        },
        # A file, not memory, because tests start real worker processes on it. One for each process, so that test runs do not share it.
        "TEST": {"NAME": str(path.parent / f"test-{os.getpid()}.sqlite3")},
    }


# A connection may die silently, for example when a load balancer drops it. With these settings a client that waits for an answer notices it after
# half a minute; the kernel alone would take a quarter of an hour. A long statement breaks no connection, because the server's kernel answers in the
# meantime.
NOTICE_LOSS = {
    "connect_timeout": "10",  # Seconds.
    "keepalives": "1",
    "keepalives_idle": "15",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",  # Longest time in milliseconds that sent data may stay unacknowledged.
}

# The same for redis-py. Its own timeouts bound each answer; these end sockets that nobody reads.
NOTICE_LOSS_OF_REDIS = {
    "socket_keepalive": True,
    "socket_keepalive_options": {
        socket.TCP_KEEPIDLE: 15,
        socket.TCP_KEEPINTVL: 5,
        socket.TCP_KEEPCNT: 3,
        socket.TCP_USER_TIMEOUT: 30_000,
    },
}


def _postgresql(url: str) -> dict[str, Any]:
    """Return the settings of PostgreSQL: connections are kept open, and checked before use. Timeouts in the URL override ours.

    With `pool_mode=transaction` (PgBouncer) each transaction may get another session, so no cursor outlives its transaction. Nothing else in the
    league depends on a session.
    """
    if importlib.util.find_spec("psycopg") is None:
        raise ImproperlyConfigured(
            "DATABASE_URL names PostgreSQL; add its driver with: pip install 'tute-league[postgres]'"
        )
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured("DATABASE_URL names no database; write postgresql://user:password@host/name")
    try:
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured("DATABASE_URL has a port that is not a number") from None
    options = dict(parse_qsl(parts.query))
    pool_mode = options.pop("pool_mode", "session")
    if pool_mode not in ("session", "transaction"):
        raise ImproperlyConfigured(f"DATABASE_URL has pool_mode={pool_mode!r}; write session or transaction")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "DISABLE_SERVER_SIDE_CURSORS": pool_mode == "transaction",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or options.pop("host", "")),
        "PORT": str(port or options.pop("port", "")),
        "CONN_MAX_AGE": envint("CONN_MAX_AGE", 600, least=0),
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": NOTICE_LOSS | options,
    }


def passkey_origin(text: str | None, hosts: list[str], *, https: bool) -> str:
    """Return the address to which passkeys are bound, such as "https://league.example", or "" without passkeys.

    Browsers allow them on https, and on http only for localhost, with any port. By default the first host of the site, if it is a name.
    """
    if text is None:
        host = hosts[0] if hosts else ""
        is_name = bool(host) and not host.startswith((".", "*", "[")) and not host.replace(".", "").isdigit()
        if https:
            return f"https://{host}" if is_name else ""
        return "http://localhost" if "localhost" in hosts else ""
    parts = urlsplit(text)
    if text and (
        parts.path or parts.query or not parts.hostname or (parts.scheme != "https" and text != "http://localhost")
    ):
        raise ImproperlyConfigured(
            f"PASSKEY_ORIGIN={text!r} is not https://NAME or http://localhost; correct it or leave it empty"
        )
    return text

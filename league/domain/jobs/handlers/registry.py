"""The registered handlers: one for each kind of work."""

from __future__ import annotations

from typing import Any

from league.domain.jobs.handlers.base import Handler
from league.domain.jobs.handlers.idle import IdleHandler

_HANDLERS: dict[str, Handler[Any, Any, Any]] = {}


def register(handler: Handler[Any, Any, Any]) -> None:
    """Register a handler for its kinds of work. Raise ValueError if a kind has a handler already."""
    if taken := sorted(_HANDLERS.keys() & set(handler.kinds)):
        raise ValueError(f"these kinds of work have a handler already: {', '.join(taken)}")
    _HANDLERS.update(dict.fromkeys(handler.kinds, handler))


def unregister(handler: Handler[Any, Any, Any]) -> None:
    """Remove a handler."""
    for kind in handler.kinds:
        del _HANDLERS[kind]


def handler_of(kind: str) -> Handler[Any, Any, Any]:
    """Return the handler of a kind of work. Raise LookupError if there is none."""
    return _HANDLERS[kind]


def idle_handlers() -> list[IdleHandler[Any, Any, Any]]:
    """Return the handlers of idle work, in the order in which workers look for it."""
    return [handler for handler in _HANDLERS.values() if isinstance(handler, IdleHandler)]

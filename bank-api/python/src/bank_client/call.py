"""Calls, and the methods that send them.

A `Call` is a request with everything that belongs to it, also its idempotency key. It is made once and can be sent
many times: a repeat has the same key, so it has no second effect.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload
from urllib.parse import quote

from .values import Page, query_text, time_text, to_json

__all__ = ["Call", "Page", "Paged", "Route", "Rows", "Sender", "make"]

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

KEY = re.compile(r'[!-"$-~]{1,255}')
"""Idempotency keys: 1 to 255 visible ASCII characters without `#`."""

MAX_TARGET_BYTES = 8 * 1024
"""Longest path with query. The daemon refuses a longer one."""


@dataclass(frozen=True)
class Call(Generic[T_co]):
    """A request. The functions of `bank_client.calls` make it; `Client.send` sends it."""

    # Id of the operation in the description of the API.
    operation: str
    method: str
    # Percent-encoded path, without the query.
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    # Media types of the body and of the answer.
    media: str = "application/json"
    accept: str = "application/json"
    # Idempotency key of a call that writes.
    key: str | None = None
    # Whether the route takes the header `Bank-Event-Time`, and its value.
    takes_event_time: bool = False
    event_time: str | None = None
    # Whether the route is open to everybody. Its answer is not signed.
    public: bool = False

    @property
    def target(self) -> str:
        """Path and query, percent-encoded."""
        if not self.query:
            return self.path
        return self.path + "?" + "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in self.query)

    def with_query(self, name: str, value: str) -> Call[T_co]:
        """The same call with another value of a parameter."""
        rest = tuple(pair for pair in self.query if pair[0] != name)
        return replace(self, query=(*rest, (name, value)))


class Paged(Protocol[T_co]):
    """An answer with rows, and the cursor of the next page."""

    @property
    def items(self) -> Sequence[T_co]: ...

    @property
    def next(self) -> str | None: ...


def make(
    operation: str,
    method: str,
    segments: tuple[object, ...],
    *,
    query: tuple[tuple[str, object], ...] = (),
    body: object = None,
    media: str = "application/json",
    accept: str = "application/json",
    key: str | None = None,
    takes_event_time: bool = False,
    event_time: datetime | None = None,
    public: bool = False,
) -> Call[Any]:
    """A call. One that writes gets a new idempotency key unless it has one."""
    if method != "GET" and key is None:
        key = uuid.uuid4().hex
    if key is not None and not KEY.fullmatch(key):
        raise ValueError(f"idempotency key {key!r} is not 1 to 255 visible ASCII characters without #")
    call: Call[Any] = Call(
        operation=operation,
        method=method,
        path="".join("/" + _encoded(query_text(segment, "path")) for segment in segments),
        query=tuple((name, query_text(value, name)) for name, value in query if value is not None),
        body=_bytes(body, media),
        media=media,
        accept=accept,
        key=key,
        takes_event_time=takes_event_time,
        event_time=None if event_time is None else time_text(event_time, "event_time"),
        public=public,
    )
    if len(call.target) > MAX_TARGET_BYTES:
        raise ValueError(f"path and query have {len(call.target)} bytes; the limit is {MAX_TARGET_BYTES}")
    return call


def _encoded(text: str) -> str:
    # A segment that is only dots would change the path.
    return text.replace(".", "%2E") if text in (".", "..") else quote(text, safe="")


def _bytes(body: object, media: str) -> bytes:
    if body is None:
        return b""
    if isinstance(body, bytes):
        return body
    if isinstance(body, str) and media != "application/json":
        return body.encode("utf-8")
    return to_json(body)


class Sender:
    """Sends calls. `Client` is one."""

    def send(self, call: Call[T]) -> T:
        raise NotImplementedError


class Route(Generic[P, T]):
    """A method of a client that makes a call and sends it."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, sender: None, owner: type) -> Callable[P, Call[T]]: ...

    @overload
    def __get__(self, sender: Sender, owner: type) -> Callable[P, T]: ...

    def __get__(self, sender: Sender | None, owner: type) -> Callable[P, Call[T]] | Callable[P, T]:
        if sender is None:
            return self.build
        found = sender

        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            return found.send(self.build(*args, **kwargs))

        return _named(run, self.build)


class Rows(Generic[P, T]):
    """A method of a client that reads a list row by row, page after page."""

    def __init__(self, build: Callable[P, Call[Paged[T]]]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, sender: None, owner: type) -> Callable[P, Call[Paged[T]]]: ...

    @overload
    def __get__(self, sender: Sender, owner: type) -> Callable[P, Iterator[T]]: ...

    def __get__(self, sender: Sender | None, owner: type) -> Callable[P, Call[Paged[T]]] | Callable[P, Iterator[T]]:
        if sender is None:
            return self.build
        found = sender

        def run(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
            return rows(found, self.build(*args, **kwargs))

        return _named(run, self.build)


def _named(run: Callable[P, T], build: Callable[..., object]) -> Callable[P, T]:
    run.__name__ = build.__name__
    run.__doc__ = build.__doc__
    return run


def rows(sender: Sender, call: Call[Paged[T]]) -> Iterator[T]:
    """The rows of a list from the page of `call` on. The next page is read when its first row is needed."""
    if ("newest", "true") in call.query:
        raise ValueError("rows are read from the oldest on; newest=True returns single pages")
    before: str | None = None
    while True:
        page = sender.send(call)
        yield from page.items
        following = page.next
        if following is None or getattr(page, "more", True) is False:
            return
        if following == before:
            raise RuntimeError(f"the list {call.path} does not continue after {following!r}")
        before = following
        call = call.with_query("after", following)

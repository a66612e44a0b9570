"""The client: sends calls to a list of servers, repeats them where that is safe, and reads the answers."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from . import calls
from .call import Call
from .errors import BadAnswer, Refused, ServerError, Unauthorized, Unavailable, problem_of
from .routes import Routes
from .shapes import ExportPage
from .signing import ApiToken, SigningKey
from .transport import Limits, Reply, Server, TooLarge, Unreachable
from .values import BadValue, decode, from_json

T = TypeVar("T")

MAX_SERVERS = 16
# Pauses between rounds of all servers, in seconds. `Retry-After` replaces them.
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_LONGEST_RETRY_AFTER_S = 60.0
# Statuses after which the next server is asked: nothing was written, or the key makes a repeat safe.
_BUSY = (503, 507)


@dataclass
class _Failure:
    """Why the last attempt of a call failed."""

    text: str = "no server was asked"
    may_be_done: bool = False
    retry_after_s: float | None = None


class Client(Routes):
    """A client of one bank.

    `servers` is one address or several, in the order in which they are tried: `unix:/path/to/bankd.sock`,
    `http://host:port`, `https://host`. Over TCP a `key` is required: a `SigningKey`, or an `ApiToken`, which is sent over
    TLS and to this host only. A call fails over to the next server if a
    connection fails or the answer is 503, and is repeated for at most `retry_s` seconds (0: one attempt on each
    server), always with the same idempotency key. A refusal is never repeated.

    `timeout_s` limits one exchange, `connect_timeout_s` its connection, `max_answer_bytes` its answer. A client can be
    used by several threads.
    """

    def __init__(
        self,
        servers: str | Sequence[str],
        key: SigningKey | ApiToken | None = None,
        *,
        retry_s: float = 60.0,
        timeout_s: float = 30.0,
        connect_timeout_s: float = 5.0,
        max_answer_bytes: int = 64 * 1024 * 1024,
    ) -> None:
        listed = [servers] if isinstance(servers, str) else list(servers)
        if not 1 <= len(listed) <= MAX_SERVERS:
            raise ValueError(f"{len(listed)} servers are given; 1 to {MAX_SERVERS} are possible")
        self.servers = [Server.parse(address) for address in listed]
        over_tcp = [server.address for server in self.servers if server.socket_path is None]
        if over_tcp and key is None:
            raise ValueError(f"{over_tcp[0]}: a request over TCP is signed; pass a SigningKey, or use the Unix socket")
        public = [server.address for server in self.servers if not server.is_private]
        if public and isinstance(key, ApiToken):
            raise ValueError(
                f"{public[0]}: a token is not sent there, because others could read it on the way; use https, a SigningKey, "
                "or a tunnel to this host"
            )
        if timeout_s <= 0 or connect_timeout_s <= 0 or retry_s < 0 or max_answer_bytes <= 0:
            raise ValueError("time limits and the limit of an answer must be above zero; retry_s may be zero")
        self.key = key
        self.retry_s = retry_s
        self.limits = Limits(timeout_s, connect_timeout_s, max_answer_bytes)
        self.view_as: str | None = None

    @classmethod
    def from_environment(cls, **options: Any) -> Client:
        """A client with the settings of the command `bank`: `BANK_SERVER`, `BANK_KEY_ID`, `BANK_KEY_FILE`, `BANK_TOKEN`.

        `BANK_SERVER` may contain several addresses with commas between them. A token comes before a key.
        """
        address = os.environ.get("BANK_SERVER", "")
        if not address:
            raise ValueError("BANK_SERVER is not set; set it to unix:/path/to/bankd.sock or http://host:port")
        id, file = os.environ.get("BANK_KEY_ID"), os.environ.get("BANK_KEY_FILE")
        if (id is None) != (file is None):
            raise ValueError("only one of BANK_KEY_ID and BANK_KEY_FILE is set; set both, or none for the Unix socket")
        key: SigningKey | ApiToken | None = None
        if token := os.environ.get("BANK_TOKEN"):
            key = ApiToken(token)
        elif id is not None and file is not None:
            key = SigningKey.from_file(id, file)
        return cls([part.strip() for part in address.split(",")], key, **options)

    def viewed_as(self, person: str) -> Client:
        """A client whose questions are answered as `person` sees the bank."""
        other = Client.__new__(Client)
        other.__dict__.update(self.__dict__)
        other.view_as = person
        return other

    def send(self, call: Call[T]) -> T:
        """Sends a call and returns its answer. Raises a `BankError`."""
        return cast(T, self.read(call, self.reply(call)))

    def export(self, format: str, *, since: str | None = None, **options: str | bool | datetime | int) -> Iterator[str]:
        """The whole text of an export (`GET /api/v1/export/{format}`), page by page.

        `options` are the parameters of `get_export_format`. Write the parts one after another.
        """
        first = True
        while True:
            page: ExportPage = self.send(calls.get_export_format(format, since=since, **options))  # type: ignore[arg-type]
            if first:
                yield page.head
            yield page.text
            first = False
            if not page.more:
                yield page.tail
                return
            if page.next is None or page.next == since:
                raise BadAnswer("the export does not continue")
            since = page.next

    def reply(self, call: Call[object]) -> Reply:
        """Sends a call until a server answers, and returns the answer as it is."""
        if self.view_as is not None and call.method == "GET" and not call.public:
            call = call.with_query("view_as", self.view_as)
        until = time.monotonic() + self.retry_s
        pause, may_be_done = _FIRST_PAUSE_S, False
        while True:
            failure = _Failure()
            found = self._round(call, failure)
            if found is not None:
                return found
            may_be_done = may_be_done or failure.may_be_done
            wait = pause if failure.retry_after_s is None else min(failure.retry_after_s, _LONGEST_RETRY_AFTER_S)
            if time.monotonic() + wait > until:
                done = "; it may have been done: send the same call again" if may_be_done and call.key else ""
                raise Unavailable(failure.text + done, may_be_done=may_be_done, key=call.key)
            time.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _round(self, call: Call[object], failure: _Failure) -> Reply | None:
        """Asks each server once, until one answers."""
        for server in self.servers:
            try:
                reply = server.exchange(call, self.key, self.limits)
            except Unreachable as error:
                failure.text = f"cannot reach the daemon at {error}"
                failure.may_be_done = failure.may_be_done or error.may_be_done
                continue
            except TooLarge as error:
                raise BadAnswer(f"{server.address}: {error}; the call may have been done") from None
            is_answer = reply.status in calls.ANSWERS.get(call.operation, {})
            if is_answer or reply.status not in (*_BUSY, 429):
                return reply
            problem = problem_of(reply.body)
            failure.text = f"{server.address} answers {reply.status}: {problem.get('detail') or problem.get('code')}"
            failure.retry_after_s = _seconds(reply.header("retry-after"))
            # A command that waited in the queue of the daemon may be done after a 503.
            failure.may_be_done = failure.may_be_done or reply.status == 503
            if reply.status == 429:
                return None
        return None

    def read(self, call: Call[object], reply: Reply) -> Any:
        """The answer of a call from its reply. Raises a `BankError` for anything but an answer."""
        kinds = calls.ANSWERS.get(call.operation, {})
        if reply.status not in kinds and not 200 <= reply.status < 300:
            raise failed(reply)
        kind = kinds.get(reply.status) or next(iter(kinds.values()), Any)
        try:
            if kind is str:
                return reply.body.decode("utf-8")
            return decode(kind, from_json(reply.body))
        except (BadValue, UnicodeDecodeError) as error:
            done = "" if call.method == "GET" else ". The call was done"
            raise BadAnswer(
                f"cannot read the answer of {call.operation}: {error}{done}. "
                "The package and the daemon should be of the same release"
            ) from None


def failed(reply: Reply) -> Refused | Unauthorized | ServerError:
    """The error of an answer that is no success."""
    problem = problem_of(reply.body)
    if reply.status == 401:
        text = problem.get("detail") or "the daemon does not accept this key or person"
        return Unauthorized(f"{text}; the cause is in the daemon's log")
    if 400 <= reply.status < 500:
        return Refused(reply.status, problem)
    return ServerError(reply.status, problem)


def _seconds(text: str | None) -> float | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 9:
        return None
    return float(text)

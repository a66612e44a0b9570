"""A queue of calls on disk, for programs that must not lose a call while the bank is away.

`put` returns after the call is on disk. `drain` sends the calls in the order of `put`, each with the idempotency key
that it got there, and removes a call only after the bank has answered it. So a crash at any point loses nothing, and a
call that is sent again has no second effect.

    waiting/   calls that the bank has not answered
    refused/   calls that the bank refused, each with the answer beside it
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Protocol

from .call import Call
from .client import failed
from .errors import Refused, Unavailable, problem_of
from .files import LOCK_WAIT_S, Name, QueueError, QueueFull, from_bytes, locked, make_folder, sync_folder, to_bytes, write
from .transport import Reply
from .values import BadValue, from_json, time_text

__all__ = ["Drained", "Queue", "QueueError", "QueueFull", "RefusedCall"]

# The daemon keeps answers of charges for ever, and those of other calls for seven days. After that a repeat would be
# done a second time. The difference is a reserve for clocks that differ.
KEPT_S = 6 * 86_400
# Calls whose repeat is safe for ever. Finished usage is identified by its source, id and start.
SAFE_FOR_EVER = frozenset({"post_charges", "post_nami_charge", "post_usage"})
# Code of a call with several objects, commands or records of which the bank refused some.
PARTLY_REFUSED = "partly_refused"
# Longest text of an answer that is kept beside such a call.
_ANSWER_CHARS = 100_000


class Replier(Protocol):
    """The part of a `Client` that the queue uses."""

    def reply(self, call: Call[object]) -> Reply: ...


@dataclass(frozen=True)
class Drained:
    """The result of `Queue.drain`."""

    # Calls that the bank carried out, and calls that it refused.
    done: int
    refused: int
    # Calls that still wait.
    left: int
    # Another process was draining this queue, so that this one did nothing.
    busy: bool = False


@dataclass(frozen=True)
class RefusedCall:
    """A call that the bank refused. `name` identifies it in the queue.

    The code is `partly_refused` if the bank did a part of it: the member `body` of the answer has the results.
    """

    name: str
    # None if the file of the call was damaged.
    call: Call[Any] | None
    status: int
    code: str
    text: str
    hint: str | None
    # The answer of the bank, as it was.
    answer: dict[str, Any]


class Queue:
    """A queue in a folder, which it creates. Several processes and threads can use one folder.

    The limits of `put` count waiting and refused calls: `max_items` calls, `max_bytes` for all of them, and
    `max_item_bytes` for the body of one. The folder belongs to one bank: do not drain it into another one.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        client: Replier,
        *,
        max_items: int = 10_000,
        max_bytes: int = 256 * 1024 * 1024,
        max_item_bytes: int = 1024 * 1024,
    ) -> None:
        self.folder = Path(folder).absolute()
        self.client = client
        self.max_items, self.max_bytes, self.max_item_bytes = max_items, max_bytes, max_item_bytes
        self._waiting, self._refused = self.folder / "waiting", self.folder / "refused"
        self._temporary = self.folder / "new"
        for path in (self.folder, self._waiting, self._refused):
            make_folder(path)

    def __len__(self) -> int:
        """The number of waiting calls."""
        return len(_names(self._waiting))

    def put(self, call: Call[Any]) -> str:
        """Stores a call and returns its name. When it returns, the call is on disk.

        Raises `QueueFull` if a limit is reached, and `OSError` if the disk is full. If the outcome is not known, such as
        after a crash, put the same call again: with the same key it is done once.
        """
        key = call.key
        if key is None:
            raise ValueError(f"{call.operation} writes nothing; only calls that write can be put into a queue")
        if call.takes_event_time and call.event_time is None:
            call = replace(call, event_time=time_text(datetime.now(timezone.utc)))
        if len(call.body) > self.max_item_bytes:
            raise QueueFull(f"the body has {len(call.body)} bytes; the limit of {self.folder} is {self.max_item_bytes}")
        data = to_bytes(call)
        with self._lock():
            name = Name.of(self._next_number(len(data)), key)
            write(self._temporary, self._waiting / str(name), data)
        return str(name)

    def drain(self, *, max_calls: int | None = None) -> Drained:
        """Sends the waiting calls in their order, at most `max_calls`.

        A refused call goes to `refused/`, and the next one follows. If the bank cannot be reached, does not accept the
        key, or has an error of its own, the call stays the first of the queue and the error is raised.
        """
        done = refused = 0
        with locked(self.folder / "drain.lock", 0) as held:
            if not held:
                return Drained(0, 0, len(self), busy=True)
            for name in _names(self._waiting)[:max_calls]:
                if self._send(name):
                    done += 1
                else:
                    refused += 1
            sync_folder(self._waiting)
        return Drained(done, refused, len(self))

    def refused(self) -> list[RefusedCall]:
        """The calls that the bank refused, the oldest first."""
        return [self._shown(name) for name in _names(self._refused)]

    def retry(self, name: str) -> str:
        """Puts a refused call at the end of the queue, with a new key, and returns its new name.

        The bank stores a refusal with its key, so that the old key would get the old answer.
        """
        old = self._find(name)
        if self._shown(old).code == PARTLY_REFUSED:
            raise QueueError(f"{name}: parts of this call were done; put the refused ones as new calls, then remove it")
        call = from_bytes((self._refused / str(old)).read_bytes())
        # The new key follows from the old one: if this is repeated after a crash, the call is still done once.
        digest = hashlib.sha256(f"retry {call.key}".encode()).hexdigest()
        added = self.put(replace(call, key=digest))
        self.remove(name)
        return added

    def remove(self, name: str) -> None:
        """Removes a refused call for good."""
        old = self._find(name)
        os.unlink(self._refused / str(old))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._answer(old))
        sync_folder(self._refused)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        with locked(self.folder / "lock") as held:
            if not held:
                raise QueueError(f"{self.folder}: another process holds the lock for more than {LOCK_WAIT_S:.0f} s")
            yield

    def _next_number(self, size: int) -> int:
        """The next place in the order. Checks the limits."""
        items = total = last = 0
        for folder in (self._waiting, self._refused):
            with os.scandir(folder) as entries:
                for entry in entries:
                    name = Name.parse(entry.name)
                    if name is None:
                        continue
                    items, last = items + 1, max(last, name.number)
                    with contextlib.suppress(FileNotFoundError):
                        total += entry.stat().st_size
        if items >= self.max_items:
            raise QueueFull(f"{self.folder} has {items} calls; the limit is {self.max_items}. Is the bank reachable?")
        if total + size > self.max_bytes:
            raise QueueFull(f"{self.folder} has {total} bytes; the limit is {self.max_bytes}. Is the bank reachable?")
        return max(last + 1, time.time_ns())

    def _send(self, name: Name) -> bool:
        """Sends one call. False if it was refused."""
        path = self._waiting / str(name)
        try:
            call = from_bytes(path.read_bytes())
        except ValueError as error:
            self._park(name, 0, {"code": "damaged_item", "detail": str(error), "hint": "restore the file, or remove it"})
            return False
        marked = name if call.operation in SAFE_FOR_EVER else self._mark(name)
        if marked.sent is not None and time.time() - marked.sent > KEPT_S:
            self._park(marked, 0, _unknown(marked, call))
            return False
        try:
            reply = self.client.reply(call)
        except Unavailable as error:
            # A call that no server received is not one whose outcome is unknown, however long the bank is away.
            if marked.sent != name.sent and not error.may_be_done:
                os.rename(self._waiting / str(marked), path)
            raise
        if 200 <= reply.status < 300:
            parts = _refused_parts(call, reply)
            if parts is not None:
                self._park(marked, reply.status, parts)
                return False
            os.unlink(self._waiting / str(marked))
            return True
        problem = failed(reply)
        if not isinstance(problem, Refused):
            raise problem
        self._park(marked, reply.status, problem_of(reply.body))
        return False

    def _mark(self, name: Name) -> Name:
        """Records the time of the first attempt in the name, durably before the attempt."""
        if name.sent is not None:
            return name
        marked = name.marked(int(time.time()))
        os.rename(self._waiting / str(name), self._waiting / str(marked))
        sync_folder(self._waiting)
        return marked

    def _park(self, name: Name, status: int, answer: dict[str, Any]) -> None:
        """Moves a call to the refused ones: first the answer, then the call in one step."""
        data = json.dumps({"status": status, "answer": answer}, indent=1, default=str).encode("utf-8") + b"\n"
        plain = name.marked(None)
        write(self.folder / "new.answer", self._answer(plain), data)
        os.rename(self._waiting / str(name), self._refused / str(plain))
        sync_folder(self._refused)
        sync_folder(self._waiting)

    def _answer(self, name: Name) -> Path:
        return self._refused / f"{name}.answer"

    def _find(self, name: str) -> Name:
        found = Name.parse(name)
        if found is None or not (self._refused / str(found)).exists():
            raise QueueError(f"{self._refused} has no call {name!r}; Queue.refused() lists them")
        return found

    def _shown(self, name: Name) -> RefusedCall:
        status, answer = 0, {}
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            stored = json.loads(self._answer(name).read_bytes())
            status, answer = int(stored["status"]), dict(stored["answer"])
        try:
            call = from_bytes((self._refused / str(name)).read_bytes())
        except ValueError:
            call = None
        refusal = Refused(status, answer)
        return RefusedCall(str(name), call, status, refusal.code, refusal.text, refusal.hint, answer)


def _names(folder: Path) -> list[Name]:
    return sorted(name for name in map(Name.parse, os.listdir(folder)) if name is not None)


def _unknown(name: Name, call: Call[Any]) -> dict[str, Any]:
    first = datetime.fromtimestamp(name.sent or 0, timezone.utc).isoformat()
    return {
        "code": "outcome_unknown",
        "detail": f"{call.method} {call.path} was first sent at {first} without an answer, and the bank keeps keys for 7 days",
        "hint": "look in the journal whether it was done; then Queue.retry or Queue.remove",
    }


def _refused_parts(call: Call[Any], reply: Reply) -> dict[str, Any] | None:
    """The refusals in an answer of success, of a call with several objects, commands or records."""
    text = reply.body.decode("utf-8", "replace")
    count = 0
    if call.operation.startswith("post_nami_"):
        count = sum(line.startswith(("refused ", "error ")) for line in text.splitlines())
    elif call.operation in ("post_batch", "post_usage", "post_user_directory"):
        with contextlib.suppress(BadValue, AttributeError, TypeError):
            found = from_json(reply.body)
            items = found.get("items", [])
            count = int(found.get("refused", 0)) + sum(item.get("outcome") == "refused" for item in items)
    if not count:
        return None
    return {
        "code": PARTLY_REFUSED,
        "detail": f"{count} parts of {call.method} {call.path} were refused, the others were done",
        "hint": "put the refused parts as new calls; then Queue.remove",
        "body": text[:_ANSWER_CHARS],
    }

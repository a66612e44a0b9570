"""Files of the queue: durable writes, locks, and items as JSON.

After a function of this module returns, its change survives a power failure, unless its description excludes that.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .call import Call

LOCK_WAIT_S = 30.0
_LOCK_PAUSE_S = 0.01
_NAME = re.compile(r"(?P<number>[0-9]{20})-(?P<digest>[0-9a-f]{16})(?:\.(?P<sent>[0-9]{1,12}))?\.json")


class QueueError(Exception):
    """The queue cannot do this. The text names the folder and what to do."""


class QueueFull(QueueError):
    """The queue has as many items or bytes as its limits allow. Nothing was put into it."""


@dataclass(frozen=True, order=True)
class Name:
    """The name of an item: its place in the order, a digest of its key, and the first attempt to send it.

    `sent` is in seconds since 1970. Without it the item was not sent, or a repeat is safe for ever.
    """

    number: int
    digest: str
    sent: int | None = field(default=None, compare=False)

    @classmethod
    def parse(cls, text: str) -> Name | None:
        found = _NAME.fullmatch(text)
        if found is None:
            return None
        sent = found["sent"]
        return cls(int(found["number"]), found["digest"], None if sent is None else int(sent))

    @classmethod
    def of(cls, number: int, key: str) -> Name:
        return cls(number, hashlib.sha256(key.encode()).hexdigest()[:16])

    def __str__(self) -> str:
        sent = "" if self.sent is None else f".{self.sent}"
        return f"{self.number:020}-{self.digest}{sent}.json"

    def marked(self, sent: int | None) -> Name:
        return replace(self, sent=sent)


def to_bytes(call: Call[Any]) -> bytes:
    """A call as it is stored."""
    members = {
        "version": 1,
        "operation": call.operation,
        "method": call.method,
        "path": call.path,
        "query": [list(pair) for pair in call.query],
        "body": base64.b64encode(call.body).decode("ascii"),
        "media": call.media,
        "accept": call.accept,
        "key": call.key,
        "event_time": call.event_time,
    }
    return json.dumps(members, indent=1).encode("utf-8") + b"\n"


def from_bytes(data: bytes) -> Call[Any]:
    """A stored call. Raises `ValueError` for anything else."""
    try:
        members = json.loads(data)
        if members["version"] != 1:
            raise ValueError(f"version {members['version']!r} is unknown to this release")
        texts = ("operation", "method", "path", "media", "accept", "key")
        if any(not isinstance(members[name], str) for name in texts):
            raise ValueError("a member has another type")
        return Call(
            **{name: members[name] for name in texts},
            query=tuple((str(name), str(value)) for name, value in members["query"]),
            body=base64.b64decode(members["body"], validate=True),
            takes_event_time=members["event_time"] is not None,
            event_time=members["event_time"],
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"not an item of the queue: {error!r}") from None


def sync_folder(folder: Path) -> None:
    """Makes renames and removals in a folder durable."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def make_folder(folder: Path) -> None:
    """Creates a folder that only its owner can read, unless it exists."""
    if folder.is_dir():
        return
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    sync_folder(folder.parent)


def write(temporary: Path, target: Path, data: bytes) -> None:
    """Writes a whole file: it exists with all its bytes, or does not exist."""
    opened = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(opened, rest) :]
        os.fsync(opened)
    finally:
        os.close(opened)
    os.rename(temporary, target)
    sync_folder(target.parent)


@contextlib.contextmanager
def locked(path: Path, wait_s: float = LOCK_WAIT_S) -> Iterator[bool]:
    """Holds the lock of a file, also against other threads. False if another one holds it for that long."""
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        until = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= until:
                    yield False
                    return
                time.sleep(_LOCK_PAUSE_S)
                continue
            yield True
            return
    finally:
        os.close(opened)

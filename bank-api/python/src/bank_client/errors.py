"""Errors of the client. All of them are a `BankError`."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .values import BadValue, from_json


class BankError(Exception):
    """A call was not done, or its outcome is not known."""


class Refused(BankError):
    """The daemon refused the call, and nothing was written. A repeat of the same call gets the same answer.

    `code` keeps its meaning for ever; docs/reference/refusals.md lists the codes. `text` is for people, `hint` is what
    to do. `needed` and `available` are amounts, for refusals about money.
    """

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code") or f"http_{status}")
        self.text = str(problem.get("detail") or problem.get("title") or f"status {status}")
        self.hint = None if problem.get("hint") is None else str(problem["hint"])
        self.field = problem.get("field")
        self.request_id = problem.get("request_id")
        self.needed = _amount(problem.get("needed"))
        self.available = _amount(problem.get("available"))
        self.problem = problem
        super().__init__(f"{self.code}: {self.text}" + (f" ({self.hint})" if self.hint else ""))


class Unauthorized(BankError):
    """The daemon does not accept the key or the person (401).

    This answer has no signature, because the daemon does not know the caller. Its cause is in the daemon's log:
    another secret, an unknown or disabled key, or a clock that differs.
    """


class Unavailable(BankError):
    """No server answered in the time of the retries.

    If `may_be_done` is true, a server received the call, so it may have been done. Send the same `Call` again: with its
    key it is done at most once.
    """

    def __init__(self, text: str, *, may_be_done: bool, key: str | None) -> None:
        self.may_be_done = may_be_done
        self.key = key
        super().__init__(text)


class BadAnswer(BankError):
    """An answer with a valid signature cannot be read. The call may have been done."""


class ServerError(BankError):
    """The daemon reported an error of its own (500, 501 and the like). The call may have been done."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.code = str(problem.get("code") or f"http_{status}")
        self.request_id = problem.get("request_id")
        text = problem.get("detail") or problem.get("title") or "no text"
        super().__init__(f"the daemon answered with status {status}: {self.code}: {text}")


def _amount(value: object) -> Decimal | None:
    try:
        return None if value is None else Decimal(str(value))
    except ArithmeticError:
        return None


def problem_of(body: bytes) -> dict[str, Any]:
    """The members of a problem document, or of a line of the scheduler's routes (`refused CODE: TEXT`)."""
    try:
        found = from_json(body)
    except BadValue:
        found = None
    if isinstance(found, dict):
        return found
    text = body[:2_000].decode("utf-8", "replace").strip()
    first = text.splitlines()[0] if text else ""
    kind, _, rest = first.partition(" ")
    code, colon, detail = rest.partition(": ")
    if kind in ("refused", "error") and colon:
        return {"code": code, "detail": detail}
    return {"detail": first} if first else {}

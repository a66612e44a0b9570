"""JSON of the API from and to values of Python.

Amounts are `decimal.Decimal`, times are aware `datetime` in UTC. This module never makes a `float`: a JSON number with
a fraction becomes a `Decimal`, and a `float` in a request is a `TypeError`.
"""

from __future__ import annotations

import functools
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
# Longest text of a number that is read. Amounts of the bank have at most 40 digits.
_NUMBER_CHARS = 400
# Deepest nesting of an answer that is read, and of a request that is written.
_DEPTH = 64


class BadValue(ValueError):
    """JSON is not of the shape that the API describes. The text names the place."""


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list. `next` is the value of `after` for the next page, and `None` on the last one."""

    items: list[T]
    next: str | None = None


def to_json(value: object) -> bytes:
    """JSON of a request.

    Members that are `None` in a dataclass are left out. In a `dict` they become `null`.
    """
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8")


def plain(value: object, place: str = "", depth: int = 0) -> Any:
    """The value as `dict`, `list`, `str`, `int`, `bool` and `None`."""
    if depth > _DEPTH:
        raise ValueError(f"{place}: the value is nested more than {_DEPTH} levels deep")
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Decimal):
        return decimal_text(value, place)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        raise TypeError(f"{place or 'value'}: {value!r} is a float, which is not exact; use decimal.Decimal(\"…\")")
    if isinstance(value, datetime):
        return time_text(value, place)
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value) and not isinstance(value, type):
        return _members(value, place, depth)
    if isinstance(value, Mapping):
        return {str(name): plain(item, f"{place}.{name}", depth + 1) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain(item, f"{place}[{at}]", depth + 1) for at, item in enumerate(value)]
    raise TypeError(f"{place or 'value'}: {type(value).__name__} has no form in JSON")


def _members(value: Any, place: str, depth: int) -> dict[str, Any]:
    kind: Any = type(value)
    hints = _hints(kind)
    members: dict[str, Any] = {}
    for item in fields(value):
        content = getattr(value, item.name)
        if content is None:
            continue
        if item.metadata.get("rest"):
            members |= plain(content, place, depth + 1)
            continue
        name = item.metadata.get("json", item.name)
        # The daemon takes amounts as texts only.
        if isinstance(content, int) and not isinstance(content, bool) and _is_decimal(hints[item.name]):
            content = Decimal(content)
        members[name] = plain(content, f"{place}.{name}" if place else name, depth + 1)
    return members


def _is_decimal(hint: Any) -> bool:
    return hint is Decimal or Decimal in typing.get_args(hint)


def decimal_text(value: Decimal, place: str = "") -> str:
    """The exact digits of a decimal, without an exponent."""
    if not value.is_finite():
        raise ValueError(f"{place or 'value'}: {value} is not a number that the bank accepts")
    if abs(value.adjusted()) > _NUMBER_CHARS:
        raise ValueError(f"{place or 'value'}: the number has too many digits")
    text = format(value, "f")
    return "0" if text == "-0" else text


def time_text(value: datetime, place: str = "") -> str:
    """RFC 3339 in UTC. A `datetime` without a zone is an error, because its instant is unknown."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise ValueError(f"{place or 'value'}: {value.isoformat()} has no time zone; add one, such as timezone.utc")
    return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def query_text(value: object, name: str) -> str:
    """The value of a parameter of a query."""
    if isinstance(value, bool):
        return "true" if value else "false"
    made = plain(value, name)
    if isinstance(made, (str, int)):
        return str(made)
    raise TypeError(f"{name}: {type(value).__name__} is not possible in a query")


def from_json(body: bytes) -> Any:
    """JSON of an answer, without a `float`."""
    try:
        return json.loads(body.decode("utf-8"), parse_float=_decimal, parse_int=_integer, parse_constant=_no_constant)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadValue(f"the answer is not JSON: {error}") from None


def _decimal(text: str) -> Decimal:
    if len(text) > _NUMBER_CHARS:
        raise BadValue("a number of the answer is too long")
    return Decimal(text)


def _integer(text: str) -> int:
    if len(text) > _NUMBER_CHARS:
        raise BadValue("a number of the answer is too long")
    return int(text)


def _no_constant(text: str) -> Any:
    raise BadValue(f"{text} is not JSON")


def decode(kind: Any, value: Any, place: str = "answer") -> Any:
    """A value of JSON as the type of Python that `kind` describes.

    Unknown members are in the member `more` of a record, and are ignored in all other shapes.
    """
    if kind is Any or kind is object:
        return value
    if kind is Decimal:
        return _decode_decimal(value, place)
    if kind is datetime:
        return _decode_time(value, place)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Union or origin is types.UnionType:
        return _decode_union(arguments, value, place)
    if origin is list:
        return [decode(arguments[0], item, f"{place}[{at}]") for at, item in enumerate(_of(list, value, place))]
    if origin is dict:
        return {name: decode(arguments[1], item, f"{place}.{name}") for name, item in _of(dict, value, place).items()}
    if origin is Page:
        found = _of(dict, value, place)
        items = decode(list[arguments[0]], found.get("items"), f"{place}.items")  # type: ignore[valid-type]
        return Page(items, decode(str | None, found.get("next"), f"{place}.next"))
    if is_dataclass(kind):
        return _decode_members(kind, _of(dict, value, place), place)
    if kind is int and isinstance(value, bool):
        raise BadValue(f"{place}: a number is expected, not {value!r}")
    return _of(kind, value, place)


def _of(kind: Any, value: Any, place: str) -> Any:
    if not isinstance(value, kind):
        raise BadValue(f"{place}: {kind.__name__} is expected, not {_shown(value)}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _decode_union(kinds: tuple[Any, ...], value: Any, place: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    rest = [kind for kind in kinds if kind is not type(None)]
    if rest == [Decimal] and value == "" and type(None) in kinds:
        # Shares of nothing are an empty text.
        return None
    if len(rest) == 1:
        return decode(rest[0], value, place)
    for kind in rest:
        try:
            return decode(kind, value, place)
        except BadValue:
            continue
    raise BadValue(f"{place}: {_shown(value)} has another type than described")


def _decode_members(kind: Any, value: dict[str, Any], place: str) -> Any:
    hints = _hints(kind)
    members = {}
    names = {item.metadata.get("json", item.name) for item in fields(kind)}
    for item in fields(kind):
        name = item.metadata.get("json", item.name)
        if item.metadata.get("rest"):
            members[item.name] = {name: value[name] for name in value if name not in names}
        elif name in value:
            members[item.name] = decode(hints[item.name], value[name], f"{place}.{name}")
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in required if name not in members]
    if missing:
        raise BadValue(f"{place}: {', '.join(missing)} is missing")
    return kind(**members)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _decode_decimal(value: Any, place: str) -> Decimal:
    if isinstance(value, Decimal):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(value)
    if not isinstance(value, str) or len(value) > _NUMBER_CHARS or not _DECIMAL.fullmatch(value):
        raise BadValue(f"{place}: an exact decimal is expected, not {_shown(value)}")
    return Decimal(value)


def _decode_time(value: Any, place: str) -> datetime:
    try:
        found = datetime.fromisoformat(_of(str, value, place))
    except ValueError:
        raise BadValue(f"{place}: a time is expected, not {_shown(value)}") from None
    if found.tzinfo is None:
        raise BadValue(f"{place}: the time {value!r} has no zone")
    return found.astimezone(timezone.utc)

"""Signatures of requests and of answers over TCP (RFC 9421 with HMAC-SHA256), by `http-message-signatures`.

The client must not use any part of an answer over TCP that this module did not verify. Only a 401 has no signature.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import secrets
import stat
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
from http_message_signatures.exceptions import HTTPMessageSignaturesException
from http_message_signatures.structures import CaseInsensitiveDict

from .call import Call

LABEL = "sig1"
MAX_SECRET_BYTES = 1024
# An answer is bound to its request by the signature of the request, so its age proves nothing more. The limit finds
# clocks that differ by hours, as the daemon does for requests.
MAX_AGE = timedelta(days=1)

_TOKEN = re.compile(r"[A-Za-z0-9._-]{1,256}")
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")


class BadSignature(Exception):
    """An answer cannot be trusted: another process listens there, or the daemon has another secret."""


def _secret_of(path: str | os.PathLike[str]) -> str:
    """The text of a file that only its owner can read."""
    with open(path, "rb") as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & 0o077:
            raise PermissionError(f"{os.fspath(path)}: others may read this secret (mode {mode:04o}); make it 0600")
        return file.read(8 * MAX_SECRET_BYTES).decode("utf-8")


@dataclass(frozen=True)
class ApiToken:
    """An API token of `bank token add`. It is sent as it is: over a Unix socket, TLS, and to this host only."""

    text: str = field(repr=False)

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.text):
            raise ValueError("a token is 1 to 256 letters, digits, dots, underscores and hyphens")

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> ApiToken:
        """A token in a file that only its owner can read."""
        return cls(_secret_of(path).strip())


@dataclass(frozen=True)
class SigningKey:
    """A signing key with its id. `bank key add` and `bankd init` create keys."""

    id: str
    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not _KEY_ID.fullmatch(self.id):
            raise ValueError(f"key id {self.id!r} is not 1 to 64 letters, digits, dots, underscores or hyphens")
        if not 1 <= len(self.secret) <= MAX_SECRET_BYTES:
            raise ValueError(f"the secret has {len(self.secret)} bytes; 1 to {MAX_SECRET_BYTES} are possible")

    @classmethod
    def from_text(cls, id: str, text: str) -> SigningKey:
        """A secret as the bank writes it: `base64:…`, `hex:…` or plain text."""
        text = text.strip()
        try:
            if text.startswith("base64:"):
                return cls(id, base64.b64decode(text[7:].strip(), validate=True))
            if text.startswith("hex:"):
                return cls(id, binascii.unhexlify(text[4:].strip()))
        except (binascii.Error, ValueError):
            raise ValueError("the secret is not valid base64 or hex") from None
        return cls(id, text.encode("utf-8"))

    @classmethod
    def from_file(cls, id: str, path: str | os.PathLike[str]) -> SigningKey:
        """A secret in a file that only its owner can read."""
        return cls.from_text(id, _secret_of(path))


class _Resolver(HTTPSignatureKeyResolver):
    def __init__(self, key: SigningKey) -> None:
        self.key = key

    def resolve_private_key(self, key_id: str) -> bytes:
        return self.key.secret

    def resolve_public_key(self, key_id: str) -> bytes | None:
        return self.key.secret if key_id == self.key.id else None


class Request:
    """A request as the library reads it: method, address and headers."""

    def __init__(self, call: Call[object], base: str) -> None:
        self.method = call.method
        self.url = base + call.target
        self.headers: MutableMapping[str, str] = CaseInsensitiveDict()  # type: ignore[no-untyped-call]
        self.headers["Accept"] = call.accept
        if call.body:
            self.headers["Content-Type"] = call.media
        if call.key is not None:
            self.headers["Idempotency-Key"] = call.key
        if call.event_time is not None:
            self.headers["Bank-Event-Time"] = call.event_time


class _Answer:
    def __init__(self, request: Request, status: int, headers: Sequence[tuple[str, str]]) -> None:
        self.request = request
        self.status_code = status
        self.headers: MutableMapping[str, str] = CaseInsensitiveDict(headers)  # type: ignore[no-untyped-call]
        self.url = request.url


def sign(key: SigningKey, call: Call[object], request: Request) -> None:
    """Adds the headers of a signature with a new nonce."""
    covered = ["@method", "@path"]
    if call.query:
        covered.append("@query")
    if call.body:
        covered.append("content-digest")
    if call.key is not None:
        covered.append("idempotency-key")
    if call.event_time is not None:
        covered.append("bank-event-time")
    HTTPMessageSigner(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=_Resolver(key)).sign(
        request,
        key_id=key.id,
        created=datetime.now(timezone.utc),
        nonce=secrets.token_hex(16),
        label=LABEL,
        covered_component_ids=covered,
        include_alg=True,
        body=call.body or None,
    )


def verify(key: SigningKey, request: Request, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
    """Checks that the daemon made this answer, for this request."""
    names = [name.lower() for name, _ in headers]
    for name in ("signature", "signature-input", "content-digest"):
        if names.count(name) > 1:
            raise BadSignature(f"the answer has the header {name} more than once")
    if "signature" not in names:
        raise BadSignature("the answer is not signed")
    required = ["@status", '"signature";req'] + (["content-digest"] if body else [])
    verifier = HTTPMessageVerifier(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=_Resolver(key))
    verifier.max_clock_skew = MAX_AGE
    try:
        results = verifier.verify(
            _Answer(request, status, headers), max_age=MAX_AGE, require_components=required, body=body
        )
    except (HTTPMessageSignaturesException, ValueError, TypeError, KeyError) as error:
        raise BadSignature(f"the signature of the answer is not valid: {error}") from None
    # The algorithm must be named: the library accepts a signature that names none.
    if len(results) != 1 or results[0].label != LABEL or results[0].parameters.get("alg") != "hmac-sha256":
        raise BadSignature("the signature of the answer is not one of the bank")

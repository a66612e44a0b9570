"""One exchange with one server, over a Unix socket or over TCP.

Every exchange has a connection of its own and one time limit for all of it: connecting, sending, waiting, reading.
"""

from __future__ import annotations

import http.client
import io
import ipaddress
import os
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from . import signing
from .call import Call
from .signing import ApiToken, SigningKey

_CHUNK = 64 * 1024
_MAX_HEADERS = 100


class Unreachable(Exception):
    """No answer that can be trusted. `may_be_done` is false if the server cannot have received the call."""

    def __init__(self, text: str, may_be_done: bool) -> None:
        self.may_be_done = may_be_done
        super().__init__(text)


class TooLarge(Exception):
    """The answer is larger than the limit."""


@dataclass(frozen=True)
class Reply:
    """An answer that can be trusted, or a 401."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


@dataclass(frozen=True)
class Limits:
    """Seconds for a whole exchange and for its connection, and the largest answer in bytes."""

    timeout_s: float = 30.0
    connect_timeout_s: float = 5.0
    max_answer_bytes: int = 64 * 1024 * 1024


class Deadline:
    """A moment of the steady clock."""

    def __init__(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    def left(self) -> float:
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time limit is over")
        return left


class _Raw(io.RawIOBase):
    """Reads from a socket until the deadline. A slow server cannot extend it by sending byte after byte."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self.sock, self.deadline = sock, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.sock.settimeout(self.deadline.left())
        return self.sock.recv_into(buffer)


class _Timed:
    """The part of a socket that `http.client` uses."""

    def __init__(self, sock: socket.socket, deadline: Deadline) -> None:
        self.sock, self.deadline = sock, deadline

    def sendall(self, data: Any) -> None:
        self.sock.settimeout(self.deadline.left())
        self.sock.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_Raw(self.sock, self.deadline))

    def close(self) -> None:
        """`http.client` closes before it reads the body. The exchange closes the socket at its end."""


@dataclass(frozen=True)
class Server:
    """A server as users write it: `unix:/path`, `/path`, `http://host:port`, `https://host` or `host:port`."""

    address: str
    socket_path: str | None
    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, address: str) -> Server:
        if address.startswith("unix:") or address.startswith("/"):
            path = address.removeprefix("unix:")
            if not path or "\0" in path:
                raise ValueError(f"server address {address!r}: write unix:/path/to/bankd.sock")
            return cls(address, os.path.abspath(path), "localhost", 0, False)
        url = address if "://" in address else "http://" + address
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https"):
            raise ValueError(f"server address {address!r}: write unix:/path, http://host:port or https://host")
        if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment or parts.username:
            raise ValueError(f"server address {address!r}: only a host and a port are possible")
        tls = parts.scheme == "https"
        return cls(address, None, parts.hostname, parts.port or (443 if tls else 80), tls)

    @property
    def base(self) -> str:
        """The start of all its addresses."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.socket_path is not None:
            return "http://localhost"
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    @property
    def is_private(self) -> bool:
        """Nobody in between reads what is sent there: a socket, TLS, or this host."""
        if self.socket_path is not None or self.tls or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def exchange(self, call: Call[object], key: SigningKey | ApiToken | None, limits: Limits) -> Reply:
        """Sends the call and returns its answer. With a signing key, an answer over TCP is verified."""
        request = signing.Request(call, self.base)
        if isinstance(key, ApiToken) and not call.public:
            request.headers["Authorization"] = f"Bearer {key.text}"
        signer = key if isinstance(key, SigningKey) and self.socket_path is None and not call.public else None
        if signer is not None:
            signing.sign(signer, call, request)
        reply = self._send(call, request, limits)
        if signer is not None and reply.status != 401:
            try:
                signing.verify(signer, request, reply.status, reply.headers, reply.body)
            except signing.BadSignature as error:
                raise Unreachable(f"{self.address}: {error}", may_be_done=True) from None
        return reply

    def _send(self, call: Call[object], request: signing.Request, limits: Limits) -> Reply:
        deadline = Deadline(limits.timeout_s)
        try:
            sock = self._connect(min(limits.connect_timeout_s, limits.timeout_s))
        except (OSError, ssl.CertificateError) as error:
            raise Unreachable(f"{self.address}: {error or type(error).__name__}", may_be_done=False) from None
        connection = http.client.HTTPConnection(self.host, self.port)
        connection.sock = _Timed(sock, deadline)
        try:
            headers = {name: str(value) for name, value in request.headers.items()}
            headers |= {"Connection": "close", "User-Agent": "bank-client-python"}
            connection.request(call.method, call.target, body=call.body or None, headers=headers)
            with connection.getresponse() as answer:
                body = _read(answer, limits.max_answer_bytes)
                return Reply(answer.status, answer.getheaders(), body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unreachable(f"{self.address}: {error or type(error).__name__}", may_be_done=True) from None
        finally:
            connection.close()
            sock.close()

    def _connect(self, timeout_s: float) -> socket.socket:
        if self.socket_path is not None:
            sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                sock.settimeout(timeout_s)
                sock.connect(self.socket_path)
            except OSError:
                sock.close()
                raise
            return sock
        sock = socket.create_connection((self.host, self.port), timeout_s)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.tls:
            return sock
        try:
            return ssl.create_default_context().wrap_socket(sock, server_hostname=self.host)
        except OSError:
            sock.close()
            raise


def _read(answer: http.client.HTTPResponse, limit: int) -> bytes:
    # None for a chunked answer, and for one that ends with the connection.
    length = answer.length
    parts, size = [], 0
    while size != length and (part := answer.read1(_CHUNK)):
        size += len(part)
        if size > limit:
            raise TooLarge(f"the answer is larger than {limit} bytes")
        parts.append(part)
    if length is not None and size < length:
        raise http.client.IncompleteRead(b"", length - size)
    return b"".join(parts)

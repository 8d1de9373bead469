"""HTTP/1.1 with a deadline for each exchange, and a pool of connections.

`http.client` frames requests and responses. It limits each wait for the socket but not all of them together, so it gets a
socket that does.
"""

from __future__ import annotations

import errno
import io
import os
import queue
import socket
import ssl
import threading
from base64 import b64encode
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected, parse_headers
from typing import Any, List, Mapping, Optional, Tuple
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from ._clock import Cancellation, Clock
from .errors import TransportError, bad_response, timed_out

# Far above a response with one user group of the largest properties and mapping.
max_response_bytes = 8 * 1024 * 1024
_chunk_bytes = 64 * 1024

# Idle connections are closed after this time: a proxy may have dropped them without notice.
_max_idle_seconds = 30.0


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    max_response_bytes: int
    """Longer responses are not read."""
    is_non_idempotent: bool
    """True for a new connection. One that is reused may turn out to be closed only after the request was sent."""


@dataclass(frozen=True)
class Response:
    status: int
    content_type: str
    retry_after: Optional[str]
    body: Optional[bytes]
    """None if it is too long."""


@dataclass(frozen=True)
class Proxy:
    host: str
    port: int
    headers: Mapping[str, str]
    """Its credentials, if the URL has some."""


class ProxyRefusal(OSError):
    """A proxy refused to connect to the origin."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


class DeadlineSocket:
    """A socket whose operations end at `until`, by the monotonic clock."""

    def __init__(self, sock: socket.socket, clock: Clock, until: float) -> None:
        self.sock = sock
        self.until = until
        self.idle_since = 0.0
        self._clock = clock

    def limit(self) -> socket.socket:
        """Returns the socket, whose next operation ends at the deadline."""
        self.sock.settimeout(_remaining(self.until, self._clock))
        return self.sock

    def sendall(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self.limit().send(view) :]

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_SocketReader(self))

    def close(self) -> None:
        self.sock.close()

    def is_usable(self) -> bool:
        """Returns False if the connection was idle for long, or if the peer closed it or sent something."""
        if self._clock.monotonic() - self.idle_since > _max_idle_seconds:
            return False
        try:
            self.sock.settimeout(0)
            # The method of SSLSocket has no flags.
            socket.socket.recv(self.sock, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False


class _SocketReader(io.RawIOBase):
    """Reads from a socket. Closing the reader leaves the socket open."""

    def __init__(self, source: DeadlineSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return self._source.limit().recv_into(buffer)


class _FinalResponse(HTTPResponse):
    """Skips interim responses (RFC 9110, section 15.2). `http.client` itself skips only `100 Continue`."""

    def _read_status(self) -> Tuple[str, int, str]:
        while True:
            version, status, reason = super()._read_status()  # type: ignore[misc]
            if status >= 200:
                return version, status, reason
            parse_headers(self.fp)


class Transport:
    """Sends requests to one origin. Safe to use by several threads.

    Uses the proxy of `HTTPS_PROXY` or `HTTP_PROXY`, unless `NO_PROXY` names the host.
    """

    def __init__(self, origin: SplitResult, context: Optional[ssl.SSLContext], clock: Clock) -> None:
        is_https = origin.scheme == "https"
        self._host = (origin.hostname or "").encode("idna").decode()
        self._port = origin.port or (443 if is_https else 80)
        host = f"[{self._host}]" if ":" in self._host else self._host
        self._host_header = host if origin.port is None else f"{host}:{origin.port}"
        self.origin = f"{origin.scheme}://{self._host_header}"
        self._base_path = origin.path.rstrip("/")
        self._context = (context or ssl.create_default_context()) if is_https else None
        self._proxy = _proxy_of(origin)
        self._clock = clock
        self._idle: List[DeadlineSocket] = []
        self._process = os.getpid()

    def exchange(self, request: Request, until: float, cancellation: Cancellation) -> Response:
        """Sends a request and returns the response. Follows no redirects.

        Raises TransportError, or CancelledError.
        """
        connection: Optional[DeadlineSocket] = None
        try:
            reused = None if request.is_non_idempotent else self._take(until)
            connection = reused or self._open(until, cancellation)
            cancellation.watch(connection.sock)
            response, is_reusable = self._send(request, connection)
            cancellation.watch(None)
            if is_reusable:
                connection.idle_since = self._clock.monotonic()
                self._idle.append(connection)
                connection = None
            return response
        except (OSError, HTTPException) as error:
            cancellation.check()
            failure = self._failure(error)
            failure.is_sent = connection is not None
        finally:
            if connection is not None:
                connection.close()
        # Raised here, because some errors of http.client hold received bytes.
        raise failure

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _take(self, until: float) -> Optional[DeadlineSocket]:
        if self._process != os.getpid():
            # After a fork, the connections belong to the parent process.
            self.close()
            self._process = os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.is_usable():
                connection.until = until
                return connection
            connection.close()

    def _open(self, until: float, cancellation: Cancellation) -> DeadlineSocket:
        proxy = self._proxy
        host, port = (self._host, self._port) if proxy is None else (proxy.host, proxy.port)
        addresses = _resolve(host, port, _remaining(until, self._clock))
        for index, (family, kind, protocol, _, address) in enumerate(addresses):
            connection = DeadlineSocket(socket.socket(family, kind, protocol), self._clock, until)
            try:
                cancellation.watch(connection.sock)
                # An address that never responds leaves time for the others.
                connection.sock.settimeout(_remaining(until, self._clock) / (len(addresses) - index))
                connection.sock.connect(address)
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self._context is not None:
                    if proxy is not None:
                        self._tunnel(connection, proxy)
                    connection.sock = self._context.wrap_socket(connection.limit(), server_hostname=self._host)
                return connection
            except BaseException as error:
                connection.close()
                if index == len(addresses) - 1 or not isinstance(error, OSError) or isinstance(error, ssl.SSLError):
                    raise
        raise OSError(errno.EADDRNOTAVAIL, "no address")

    def _tunnel(self, connection: DeadlineSocket, proxy: Proxy) -> None:
        """Makes the proxy connect to the origin (RFC 9110, section 9.3.6)."""
        target = f"{self._host_header.removesuffix(f':{self._port}')}:{self._port}"
        lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}", *(f"{k}: {v}" for k, v in proxy.headers.items())]
        connection.sendall("\r\n".join([*lines, "", ""]).encode("ascii"))
        # Not closed: it would have to read a body, which a tunnel does not have.
        response = _FinalResponse(connection, method="CONNECT")  # type: ignore[arg-type]
        response.begin()
        if not 200 <= response.status < 300:
            raise ProxyRefusal(response.status)

    def _send(self, request: Request, connection: DeadlineSocket) -> Tuple[Response, bool]:
        client = HTTPConnection(self._host, self._port)
        client.response_class = _FinalResponse
        client.sock = connection
        target = self._base_path + request.path
        headers = {"Host": self._host_header, **request.headers}
        if request.body is not None:
            headers["Content-Length"] = str(len(request.body))
        if self._proxy is not None and self._context is None:
            target = self.origin + target
            headers.update(self._proxy.headers)
        client.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            client.putheader(name, value)
        try:
            client.endheaders(request.body)
        except (BrokenPipeError, ConnectionResetError):
            # If the service refused the request early, its response is there.
            pass
        with client.getresponse() as response:
            body = _read_bounded(response, request.max_response_bytes)
            result = Response(
                response.status, response.getheader("Content-Type", ""), response.getheader("Retry-After"), body
            )
            return result, not response.will_close and body is not None

    def _failure(self, error: Exception) -> TransportError:
        origin = self.origin
        if isinstance(error, ProxyRefusal):
            return TransportError(
                "refused",
                f"The proxy refused a connection to {origin} with status {error.status}. Check HTTPS_PROXY.",
                error.status,
            )
        if isinstance(error, HTTPException) and not isinstance(error, (IncompleteRead, RemoteDisconnected)):
            return bad_response(f"it is not HTTP ({type(error).__name__})")
        if _is_timeout(error):
            return timed_out(origin)
        reason = getattr(error, "strerror", None) or type(error).__name__
        if isinstance(error, ssl.SSLError) and not isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):
            failure = TransportError(
                "tls_failed", f"No secure connection to {origin} ({reason}). Check origin and its certificate."
            )
        else:
            failure = TransportError(
                "unreachable",
                f"Cannot reach the User Group Service at {origin} ({reason}). "
                "Check origin, and that the service is running.",
            )
        if isinstance(error, OSError):
            failure.__cause__ = error
        return failure


def _read_bounded(response: HTTPResponse, max_bytes: int) -> Optional[bytes]:
    body = bytearray()
    while chunk := response.read(_chunk_bytes):
        body += chunk
        if len(body) > max_bytes:
            return None
    # http.client reports a missing rest only where it reads the whole body at once.
    if response.length:
        raise IncompleteRead(b"")
    return bytes(body)


def _proxy_of(origin: SplitResult) -> Optional[Proxy]:
    """Returns the proxy of the environment. Raises ValueError if it is no HTTP proxy."""
    text = getproxies().get(origin.scheme)
    # NO_PROXY may name a host with its port.
    if not text or proxy_bypass(origin.hostname or "") or proxy_bypass(origin.netloc):
        return None
    try:
        url = urlsplit(text if "://" in text else f"http://{text}")
        port = url.port or 80
    except ValueError:
        url, port = SplitResult("", "", "", "", ""), 0
    if url.scheme != "http" or not url.hostname:
        raise ValueError(f"{origin.scheme.upper()}_PROXY must be the http URL of a proxy")
    headers = {}
    if url.username is not None:
        credentials = f"{unquote(url.username)}:{unquote(url.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(credentials.encode()).decode()}"
    return Proxy(url.hostname, port, headers)


def _remaining(until: float, clock: Clock) -> float:
    seconds = until - clock.monotonic()
    if seconds <= 0:
        raise socket.timeout
    return seconds


def _is_timeout(error: Exception) -> bool:
    # In Python 3.10 and later, socket.timeout is TimeoutError, which the system raises too, with an error number.
    return isinstance(error, socket.timeout) and error.errno is None


def _resolve(host: str, port: int, timeout_seconds: float) -> List[Any]:
    """Resolves a host name in a thread, because getaddrinfo has no timeout."""
    results: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            results.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            results.put(error)

    threading.Thread(target=resolve, daemon=True).start()
    try:
        result = results.get(timeout=timeout_seconds)
    except queue.Empty:
        raise socket.timeout from None
    if isinstance(result, OSError):
        raise result
    return list(result)

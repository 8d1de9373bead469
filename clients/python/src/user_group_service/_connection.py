"""Retries and the override of methods that a proxy does not pass."""

from __future__ import annotations

import logging
import random
import ssl
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, FrozenSet, Generic, Mapping, Optional, Set, TypeVar, Union
from urllib.parse import SplitResult, quote, urlsplit

from ._clock import Cancellation, Clock
from ._json import Expected, read_json
from ._transport import Request, Transport, max_response_bytes
from ._version import __version__
from .errors import ServiceError, TransportError, timed_out

logger = logging.getLogger("user_group_service")

Result = TypeVar("Result")
Failure = Union[ServiceError, TransportError]

# Pause before the second attempt. Doubles with each attempt, up to the maximum.
_initial_delay_seconds = 0.1
_max_delay_seconds = 2.0

# Maximum timeout of a socket on every platform.
_max_deadline_seconds = 2_147_483

_retryable_statuses = frozenset({408, 429, 500, 502, 503, 504})

# Methods that a proxy may refuse, with the statuses that proxies use for it. If an operation has an override, the service accepts it
# as a POST with `X-HTTP-Method-Override` too. Both forms are the same operation, so sending the second is safe.
_refusals: Dict[str, FrozenSet[int]] = {
    "GET": frozenset({400, 403, 405, 411, 413, 501}),
    "PUT": frozenset({403, 405, 501}),
}


@dataclass(frozen=True)
class Operation(Generic[Result]):
    method: str
    path: str
    headers: Mapping[str, str]
    body: Optional[bytes]
    read: Callable[[object], Result]
    """Converts the JSON of a successful response."""
    has_override: bool = False
    status: int = 200
    """Status of a successful response."""
    max_response_bytes: int = max_response_bytes
    is_ndjson: bool = False
    """True if the response is NDJSON. `read` then gets the list of its lines."""
    is_non_idempotent: bool = False
    """True if a second execution has a second effect. It is not retried once an attempt may have taken effect."""
    after_ambiguous_failure: Mapping[str, Callable[[Failure, ServiceError], Any]] = field(default_factory=dict)
    """Handlers for error codes of a retry that follows an attempt with an unknown outcome, which may mean that the attempt took
    effect. A handler gets the failure of that attempt, and returns the result or raises an error."""


@dataclass(frozen=True)
class Limits:
    deadline: float
    """By the monotonic clock."""
    cancellation: Cancellation = field(default_factory=Cancellation)


class Connection:
    """Sends operations to one service with one API token. Safe to use by several threads."""

    def __init__(
        self,
        origin: str,
        api_token: str,
        deadline_seconds: float,
        max_tries: int,
        method_override: bool,
        ssl_context: Optional[ssl.SSLContext],
        clock: Optional[Clock] = None,
    ) -> None:
        # Values from environment variables may be missing or strings.
        if not _is_visible_ascii(api_token) or " " in api_token:
            raise ValueError("api_token must be only the API token: visible ASCII characters without white space")
        if type(max_tries) is not int or max_tries < 1:
            raise ValueError("max_tries must be an int, 1 or more")
        self.clock = clock or Clock()
        self._authorization = f"Token {api_token}"
        self._deadline_seconds = _check_deadline(deadline_seconds)
        self._max_tries = max_tries
        self._overridden: Set[str] = set(_refusals if method_override else ())
        self.transport = _transport_of(origin, ssl_context, self.clock)

    def limits(self, deadline_seconds: Optional[float]) -> Limits:
        """Returns the limits of an operation that starts now."""
        seconds = self._deadline_seconds if deadline_seconds is None else _check_deadline(deadline_seconds)
        return Limits(self.clock.monotonic() + seconds)

    def execute(self, operation: Operation[Result], limits: Limits) -> Result:
        """Executes an operation. Retries it within the deadline while the failure may be temporary.

        Raises ServiceError, TransportError, or CancelledError.
        """
        is_last_attempt = self._max_tries == 1
        attempts = 0
        ambiguous: Optional[Failure] = None
        while True:
            attempts += 1
            limits.cancellation.check()
            now = self.clock.monotonic()
            if now >= limits.deadline:
                raise timed_out(self.transport.origin)
            # Half of the remaining time, so that one missing response leaves time for another attempt.
            uses_whole_deadline = is_last_attempt or operation.is_non_idempotent
            until = limits.deadline if uses_whole_deadline else (now + limits.deadline) / 2
            try:
                return self._attempt(operation, until, limits.cancellation)
            except (ServiceError, TransportError) as error:
                logger.debug("%s %s, attempt %d: %s", operation.method, operation.path, attempts, error)
                handle = operation.after_ambiguous_failure.get(error.code)
                if ambiguous is not None and handle is not None and isinstance(error, ServiceError):
                    result: Result = handle(ambiguous, error)
                    return result
                is_ambiguous = _may_have_taken_effect(error)
                if is_ambiguous:
                    ambiguous = error
                if is_last_attempt or not _is_retryable(error) or (is_ambiguous and operation.is_non_idempotent):
                    raise
                # A slow service gets only one more attempt.
                is_last_attempt = attempts == self._max_tries - 1 or error.code == "timed_out"
                delay = retry_delay_seconds(attempts) + (error.retry_after_seconds or 0)
                if self.clock.monotonic() + delay >= limits.deadline:
                    raise
                self.clock.sleep(delay, limits.cancellation)
                if self.clock.monotonic() >= limits.deadline:
                    raise

    def _attempt(self, operation: Operation[Result], until: float, cancellation: Cancellation) -> Result:
        """Sends the operation. If a proxy does not pass the method, sends it again with the override header."""
        method = operation.method
        if not operation.has_override:
            return self._send(operation, method, until, cancellation)
        if method not in self._overridden:
            try:
                return self._send(operation, method, until, cancellation)
            except (ServiceError, TransportError) as error:
                if not _needs_override(method, error):
                    raise
        try:
            result = self._send(operation, "POST", until, cancellation)
        except ServiceError:
            # An error of the service proves that the request got through.
            self._overridden.add(method)
            raise
        self._overridden.add(method)
        return result

    def _send(self, operation: Operation[Result], method: str, until: float, cancellation: Cancellation) -> Result:
        override = {} if method == operation.method else {"X-HTTP-Method-Override": operation.method}
        headers = {
            "User-Agent": f"user-group-service-python/{__version__}",
            "Authorization": self._authorization,
            "Accept": "application/json",
            **operation.headers,
            **override,
        }
        request = Request(
            method,
            operation.path,
            headers,
            operation.body,
            operation.max_response_bytes,
            operation.is_non_idempotent,
        )
        response = self.transport.exchange(request, until, cancellation)
        expected = Expected(method, operation.status, self.clock.now(), operation.is_ndjson)
        return operation.read(read_json(response, expected))


def retry_delay_seconds(attempts: int) -> float:
    """Returns the pause after this many attempts. Random, so that clients do not retry in step."""
    longest: float = min(_initial_delay_seconds * 2.0 ** (attempts - 1), _max_delay_seconds)
    return longest * (0.5 + random.random() / 2)


def checked_idempotency_key(key: str) -> str:
    if key != "" and not _is_visible_ascii(key):
        raise ValueError("idempotency_key must be visible ASCII characters")
    return key


def _may_have_taken_effect(failure: Failure) -> bool:
    # The service also responds with 503 if it loses its store in the middle of a change.
    if isinstance(failure, ServiceError):
        return (failure.status or 0) >= 500
    return failure.is_sent and failure.status != 429


def _is_visible_ascii(text: object) -> bool:
    return isinstance(text, str) and text != "" and text.isascii() and text.isprintable()


def _is_retryable(failure: Failure) -> bool:
    if isinstance(failure, ServiceError):
        return failure.status in _retryable_statuses or failure.code == "idempotency_key_in_use"
    return failure.code in ("unreachable", "timed_out") or (
        failure.code == "refused" and failure.status in _retryable_statuses
    )


def _needs_override(method: str, failure: Failure) -> bool:
    """Returns True if a proxy probably refused the method, or dropped the body because of it."""
    if method not in _refusals:
        return False
    if isinstance(failure, ServiceError):
        return failure.code == "body_required"
    return failure.code == "refused" and failure.status in _refusals[method]


def _check_deadline(seconds: float) -> float:
    if isinstance(seconds, (int, float)) and 0 < seconds <= _max_deadline_seconds:
        return seconds
    raise ValueError("deadline_seconds must be a number above 0")


def _transport_of(origin: str, context: Optional[ssl.SSLContext], clock: Clock) -> Transport:
    url = _checked_origin(origin)
    return Transport(url._replace(path=quote(url.path, safe="/%:@!$&'()*+,;=~")), context, clock)


def _checked_origin(origin: str) -> SplitResult:
    try:
        url = urlsplit(origin)
        is_valid = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
        if is_valid and "@" not in url.netloc and not url.query and not url.fragment:
            # Fails for a host name that has no ASCII form.
            (url.hostname or "").encode("idna")
            return url
    except (AttributeError, TypeError, ValueError):
        pass
    raise ValueError("origin must be an http or https URL without user, password or query")

"""Errors of the client. They never hold a token."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Optional, Sequence

# Newer services may send codes that are not listed here.
ErrorCode = Literal[
    "malformed_request",
    "malformed_json",
    "body_required",
    "validation_failed",
    "name_required",
    "invalid_method_override",
    "invalid_idempotency_key",
    "invalid_position",
    "unauthenticated",
    "forbidden",
    "user_group_not_found",
    "token_not_found",
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "token_superseded",
    "idempotency_key_in_use",
    "already_exists",
    "in_use",
    "limit_reached",
    "revision_mismatch",
    "body_too_large",
    "unsupported_media_type",
    "idempotency_key_reused",
    "rate_limited",
    "headers_too_large",
    "internal",
    "not_implemented",
    "unavailable",
]

# `unreachable`: no connection, or it broke. `timed_out`: the deadline passed. `tls_failed`: the certificate is not trusted, or
# the peer does not speak TLS. `refused`: a proxy responded with an error. `bad_response`: the response is not from the service,
# or is a redirect.
TransportErrorCode = Literal["unreachable", "timed_out", "tls_failed", "refused", "bad_response"]


@dataclass(frozen=True)
class FieldFault:
    """An invalid field: its JSON Pointer (RFC 6901) in the request body, and the reason."""

    path: str
    message: str


class UserGroupServiceError(Exception):
    """An operation failed. Every error of this package is one, except those for invalid arguments."""

    code: str
    status: Optional[int]
    retry_after_seconds: Optional[float]


class ServiceError(UserGroupServiceError):
    """The service responded that the operation failed.

    `code` is stable and listed in the API reference. `status` is the HTTP status. `fields` are the invalid fields and may be
    empty. `request_id` identifies the request in the log of the service. `retry_after_seconds` is the wait that the service
    requests before the next attempt.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        status: int,
        request_id: str,
        fields: Sequence[FieldFault] = (),
        retry_after_seconds: Optional[float] = None,
    ) -> None:
        super().__init__(_without_tokens(message))
        self.code: ErrorCode = code
        self.status = status
        self.request_id = _without_tokens(request_id)
        self.fields = tuple(
            FieldFault(_without_tokens(field.path), _without_tokens(field.message)) for field in fields
        )
        self.retry_after_seconds = retry_after_seconds


class TransportError(UserGroupServiceError):
    """The service did not respond, so the operation may or may not have taken effect.

    It is safe to repeat `get_or_create`, `update`, `create_session` and `end_sessions`, and `rotate` with the same idempotency
    key. `status` is the HTTP status if there was a response.
    """

    def __init__(
        self,
        code: TransportErrorCode,
        message: str,
        status: Optional[int] = None,
        retry_after_seconds: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code: TransportErrorCode = code
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.is_sent = True
        """False if no part of the request can have arrived."""


def bad_response(detail: str, status: Optional[int] = None) -> TransportError:
    return TransportError(
        "bad_response",
        f"Unexpected response: {detail}. "
        "Check origin, and that no login page or redirect is in front of the User Group Service.",
        status,
    )


def timed_out(origin: str) -> TransportError:
    return TransportError(
        "timed_out",
        f"No response from the User Group Service at {origin} in time. "
        "Check the service, or raise deadline_seconds.",
    )


def _without_tokens(text: str) -> str:
    return re.sub(r"ug[at]_(?:customer|testing)_\w+", "[token]", text, flags=re.IGNORECASE)

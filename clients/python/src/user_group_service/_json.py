"""JSON of requests and responses."""

from __future__ import annotations

import email.utils
import json
import re
from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, NoReturn, Optional

from ._transport import Response
from .errors import FieldFault, ServiceError, TransportError, bad_response

# Error codes of the OAuth endpoints, whose errors have no code of the service, by status.
_code_of_status: Dict[int, str] = {
    401: "unauthenticated",
    403: "forbidden",
    408: "request_timeout",
    413: "body_too_large",
    415: "unsupported_media_type",
    429: "rate_limited",
    500: "internal",
    503: "unavailable",
}


def json_bytes(value: object) -> bytes:
    """Returns the value as JSON.

    Raises TypeError or ValueError for values that JSON cannot represent, such as NaN or a key that is not a string.
    """
    try:
        encoded = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except (RecursionError, ValueError):
        encoded = None
    # Raised here, because UnicodeEncodeError holds the whole body, with its token.
    if encoded is None:
        raise ValueError("A field cannot be represented in JSON: NaN, a lone surrogate, a cycle, or too many levels.")
    _check_keys(value)
    return encoded


def _check_keys(value: object) -> None:
    """json.dumps would convert keys: 1, None and True would become strings."""
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"Keys of JSON objects must be strings, not {type(key).__name__}.")
        _check_keys(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            _check_keys(item)


@dataclass(frozen=True)
class Expected:
    method: str
    status: int
    """Status of a successful response."""
    now: float
    """Seconds since the Unix epoch, to interpret a `Retry-After` that is a date."""
    is_ndjson: bool
    """True if the body is NDJSON, which is read as a list."""


def read_json(response: Response, expected: Expected) -> object:
    """Returns the JSON of a successful response.

    Raises ServiceError if the service responded with an error, and TransportError if the response is not from the service.
    """
    status = response.status
    if status >= 400:
        retry_after = _retry_after_seconds(response.retry_after, expected.now)
        error = _parse(response.body)
        raise (
            _service_error(error, status, retry_after)
            or _oauth_error(error, status, retry_after)
            or TransportError(
                "refused",
                f"A proxy in front of the User Group Service refused {expected.method} with status {status}. "
                f"Check origin, and that the proxies on the way pass {expected.method}.",
                status,
                retry_after,
            )
        )
    if status != expected.status:
        raise bad_response(f"its status is {status}", status)
    media_type = "application/x-ndjson" if expected.is_ndjson else "application/json"
    if response.content_type.split(";")[0].strip().lower() != media_type:
        raise bad_response(f"its Content-Type is not {media_type}", status)
    if response.body is None:
        raise bad_response("it is too long", status)
    body = response.body
    value = _parse(b"[" + body.rstrip().replace(b"\n", b",") + b"]" if expected.is_ndjson else body)
    if value is None:
        raise bad_response("it is not JSON", status)
    return value


def _service_error(value: object, status: int, retry_after: Optional[float]) -> Optional[ServiceError]:
    """Returns None if the value is not an error of the service."""
    error = value.get("error") if isinstance(value, dict) and value.get("success") == 0 else None
    if not isinstance(error, dict):
        return None
    fields: List[Mapping[str, Any]] = error.get("fields", [])
    texts = [error.get(name) for name in ("code", "message", "request_id")]
    if not all(isinstance(text, str) and text for text in texts) or not isinstance(fields, list):
        return None
    for field in fields:
        if not isinstance(field, dict) or not all(isinstance(field.get(name), str) for name in ("path", "message")):
            return None
    faults = [FieldFault(field["path"], field["message"]) for field in fields]
    return ServiceError(error["code"], error["message"], status, error["request_id"], faults, retry_after)


def _oauth_error(value: object, status: int, retry_after: Optional[float]) -> Optional[ServiceError]:
    """Returns None if the value is not an error of an OAuth endpoint."""
    if not isinstance(value, dict):
        return None
    if not all(isinstance(value.get(name), str) for name in ("error", "error_description", "request_id")):
        return None
    code: Any = _code_of_status.get(status, "validation_failed")
    return ServiceError(code, value["error_description"], status, value["request_id"], (), retry_after)


def _retry_after_seconds(header: Optional[str], now: float) -> Optional[float]:
    """Returns the wait. `Retry-After` is a number of seconds or a date (RFC 9110, section 10.2.3)."""
    if header is None:
        return None
    if re.fullmatch("[0-9]+", header):
        return float(header)
    date = email.utils.parsedate_tz(header)
    return None if date is None else max(0.0, email.utils.mktime_tz(date) - now)


def _parse(body: Optional[bytes]) -> object:
    """Returns None if the body is not JSON. Drops the error, which holds the body."""
    try:
        return None if body is None else json.loads(body.decode(), parse_constant=_refuse)
    except (RecursionError, ValueError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")

"""The operations of the service, as requests."""

from __future__ import annotations

import uuid
from typing import Any, Dict, Mapping, Optional, Sequence, Union
from urllib.parse import urlencode

from ._connection import Operation, checked_idempotency_key
from ._json import json_bytes
from ._responses import (
    read_end_sessions,
    read_get_or_create,
    read_introspection,
    read_rotation,
    read_session,
    read_update,
)
from .user_group import (
    KEEP,
    GetOrCreateResult,
    IntrospectedUserGroup,
    Keep,
    Narrowing,
    RotatedUserGroup,
    UpdatedUserGroup,
    Viewer,
    ViewerSession,
)

# Longer strings cannot be tokens: the service issues sessions of at most 6 KiB.
_max_token_length = 6 * 1024

_json_type = {"Content-Type": "application/json"}

Name = Union[str, Keep]
MappingField = Union[Mapping[str, str], None, Keep]
# A TypedDict is a mapping of objects. Values that are not JSON raise a TypeError.
Properties = Union[Mapping[str, object], None, Keep]


def get_or_create(
    user_group_id: str, name: Name, mapping: MappingField, properties: Properties
) -> Operation[GetOrCreateResult]:
    body = _user_group_body(user_group_id, name, mapping, properties)
    return Operation("GET", "/api/user", _json_type, body, read_get_or_create, has_override=True)


def update(
    user_group_id: str, name: Name, mapping: MappingField, properties: Properties
) -> Operation[UpdatedUserGroup]:
    body = _user_group_body(user_group_id, name, mapping, properties)
    return Operation("PUT", "/api/user", _json_type, body, read_update, has_override=True)


def rotate(
    current_token: str, grace_period_seconds: Optional[int], idempotency_key: Optional[str]
) -> Operation[RotatedUserGroup]:
    key = str(uuid.uuid4()) if idempotency_key is None else checked_idempotency_key(idempotency_key)
    body: Dict[str, Any] = {"current_token": current_token}
    if grace_period_seconds is not None:
        body["grace_period_seconds"] = grace_period_seconds
    headers = {**_json_type, "Idempotency-Key": key}
    return Operation("POST", "/api/user", headers, json_bytes(body), read_rotation)


def create_session(
    user_group_id: str,
    viewer: Viewer,
    narrow: Optional[Narrowing],
    resources: Optional[Sequence[str]],
    expires_in_seconds: Optional[int],
    audience: Optional[str],
    include: Optional[Sequence[str]],
    claims: Optional[Mapping[str, object]],
) -> Operation[ViewerSession]:
    options = {
        "narrow": narrow,
        "resources": resources,
        "expires_in_seconds": expires_in_seconds,
        "audience": audience,
        "include": include,
        "claims": claims,
    }
    body = _session_body(user_group_id, {"viewer": viewer, **options})
    return Operation("POST", "/api/user/create-session", _json_type, body, read_session)


def end_sessions(user_group_id: str, viewer_id: Optional[str]) -> Operation[None]:
    body = _session_body(user_group_id, {"viewer_id": viewer_id})
    return Operation("POST", "/api/user/end-sessions", _json_type, body, read_end_sessions)


def introspect(token: Optional[str], resource: Optional[str]) -> Optional[Operation[Optional[IntrospectedUserGroup]]]:
    """Returns None if the text cannot be a token."""
    if not isinstance(token, str) or token == "" or len(token) > _max_token_length:
        return None
    fields = {"token": token, **({} if resource is None else {"resource": resource})}
    form = urlencode(fields, errors="replace").encode()
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return Operation("POST", "/oauth2/introspect", headers, form, read_introspection)


def _session_body(user_group_id: str, fields: Mapping[str, object]) -> bytes:
    body: Dict[str, object] = {"user_group_id": user_group_id, **fields}
    return json_bytes({name: value for name, value in body.items() if value is not None})


def _user_group_body(user_group_id: str, name: Name, mapping: MappingField, properties: Properties) -> bytes:
    fields = {"user_group_id": user_group_id, "name": name, "mapping": mapping, "properties": properties}
    return json_bytes({name: value for name, value in fields.items() if value is not KEEP})

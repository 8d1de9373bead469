"""Reads the responses of the service. Unknown members are ignored."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Callable, Dict, Mapping, Optional

from .errors import bad_response
from .user_group import (
    GetOrCreateResult,
    IntrospectedUserGroup,
    IntrospectedViewer,
    MappedDataSource,
    RotatedUserGroup,
    Schema,
    UpdatedUserGroup,
    UserGroup,
    ViewerSession,
)

Check = Callable[[Any], bool]
Shape = Mapping[str, Check]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_object_or_none(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_time(value: Any) -> bool:
    # The latest time of datetime.
    return _is_count(value) and int(value) < 253_402_300_800


def parsed_time(text: str) -> datetime:
    # Before Python 3.11, fromisoformat does not know the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def is_time_text(value: Any) -> bool:
    try:
        return isinstance(value, str) and parsed_time(value).tzinfo is not None
    except ValueError:
        return False


def _optional(is_valid: Check) -> Check:
    return lambda value: value is ... or is_valid(value)


_identity: Shape = {"team_id": _is_count, "token": _is_text, "name": _is_text, "provided_id": _is_text}
_environment: Shape = {"api_environment_tag": lambda value: value in ("Customer", "Testing")}
_properties: Shape = {"properties": _is_object_or_none}
_success: Shape = {"success": lambda value: bool(value == 1)}
_rotated: Shape = {**_success, "user_group": _is_object}
_created: Shape = {**_rotated, "new_user_group": lambda value: isinstance(value, bool)}
_session: Shape = {
    "token": _is_text,
    "session_id": _is_text,
    "expires_at": is_time_text,
    "expires_in_seconds": _is_count,
}
_schema: Shape = {"id": _is_count, "provided_id": _is_text}
_data_source: Shape = {**_schema, "name": _is_text, "schema": _is_object}
_introspection: Shape = {
    **_environment,
    **_properties,
    "active": lambda value: value is True,
    "token_type": lambda value: value in ("user_group", "viewer_session"),
    "sub": _is_text,
    "iat": _is_time,
    "exp": _optional(_is_time),
    "team_id": _is_count,
    "name": _is_text,
    "mapping": lambda value: value is None or (isinstance(value, dict) and all(map(_is_text, value.values()))),
    "data_sources": _is_object,
}
_active_session: Shape = {
    "exp": _is_time,
    "jti": _is_text,
    "viewer": _is_object,
    "resources": _optional(lambda value: isinstance(value, list) and all(map(_is_text, value))),
}
_viewer: Shape = {
    "id": _is_text,
    "name": _optional(_is_text),
    "properties": _optional(_is_object),
    "time_zone": _optional(_is_text),
    "locale": _optional(_is_text),
}


def read_get_or_create(value: object) -> GetOrCreateResult:
    response = _read(value, "the response", _created)
    group = _read(response["user_group"], "user_group", {**_identity, **_properties})
    return GetOrCreateResult(
        response["new_user_group"], UserGroup(**_identity_of(group), properties=group["properties"])
    )


def read_update(value: object) -> UpdatedUserGroup:
    response = _read(value, "the response", _created)
    group = _read(response["user_group"], "user_group", {**_identity, **_properties, **_environment})
    return UpdatedUserGroup(
        **_identity_of(group), properties=group["properties"], environment=group["api_environment_tag"]
    )


def read_rotation(value: object) -> RotatedUserGroup:
    response = _read(value, "the response", _rotated)
    group = _read(response["user_group"], "user_group", {**_identity, **_environment})
    return RotatedUserGroup(**_identity_of(group), environment=group["api_environment_tag"])


def read_session(value: object) -> ViewerSession:
    response = _read(value, "the response", {**_success, "session": _is_object})
    session = _read(response["session"], "session", _session)
    return ViewerSession(
        session["token"],
        session["session_id"],
        parsed_time(session["expires_at"]),
        session["expires_in_seconds"],
    )


def read_end_sessions(value: object) -> None:
    _read(value, "the response", _success)


def read_introspection(value: object) -> Optional[IntrospectedUserGroup]:
    """Returns None for an inactive token."""
    if isinstance(value, dict) and value.get("active") is False:
        if len(value) == 1:
            return None
        raise bad_response("it is inactive but has more members")
    response = _read(value, "the response", _introspection)
    session: Mapping[str, Any] = {}
    viewer: Optional[IntrospectedViewer] = None
    if response["token_type"] == "viewer_session":
        session = _read(value, "the response", _active_session)
        shown = _read(session["viewer"], "viewer", _viewer)
        members: Dict[str, Any] = {name: shown.get(name) for name in _viewer}
        viewer = IntrospectedViewer(**members)
    expiry = response.get("exp")
    return IntrospectedUserGroup(
        provided_id=response["sub"],
        team_id=response["team_id"],
        name=response["name"],
        environment=response["api_environment_tag"],
        mapping=response["mapping"],
        data_sources={key: _read_data_source(item) for key, item in response["data_sources"].items()},
        properties=response["properties"],
        session_id=session.get("jti"),
        viewer=viewer,
        resources=session.get("resources"),
        token_issued_at=_time(response["iat"]),
        token_expires_at=None if expiry is None else _time(expiry),
    )


def _read(value: object, subject: str, shape: Shape) -> Dict[str, Any]:
    if not isinstance(value, dict):
        raise bad_response(f"{subject} is not an object")
    for name, is_valid in shape.items():
        # The check of an optional member accepts Ellipsis.
        if not is_valid(value.get(name, ...)):
            raise bad_response(f"{subject} has an invalid {name}")
    return value


def _identity_of(group: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: group[name] for name in _identity}


def _read_data_source(value: object) -> MappedDataSource:
    source = _read(value, "data_sources", _data_source)
    schema = _read(source["schema"], "data_sources", _schema)
    return MappedDataSource(
        source["id"], source["provided_id"], source["name"], Schema(schema["id"], schema["provided_id"])
    )


def _time(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)

"""Reads JSON into the types of results. Unknown members and unknown values of enumerations are accepted."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Dict, Literal, Union, get_args, get_origin, get_type_hints

from ._responses import is_time_text, parsed_time
from .errors import TransportError, bad_response
from .user_group import Environment

_hints = lru_cache(maxsize=None)(get_type_hints)


def read(kind: Any, value: object, subject: str) -> Any:
    """Returns the value as this type, such as `List[ApiToken]`. Raises TransportError if it is not one."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _read_members(kind, value, subject)
    if kind is datetime and is_time_text(value):
        return parsed_time(str(value))
    if origin is Union:
        return _read_one(args, value, subject)
    if origin is list and isinstance(value, list):
        return [read(args[0], item, f"an item of {subject}") for item in value]
    if origin is dict and isinstance(value, dict):
        return {key: read(args[1], item, f"an item of {subject}") for key, item in value.items()}
    if origin is Literal and _is_one_of(kind, args, value):
        return value
    if origin is None and type(value) in ((int, float) if kind is float else (kind,)) and not _is_negative(value):
        return value
    raise bad_response(f"{subject} is invalid")


def _read_one(kinds: Any, value: object, subject: str) -> Any:
    """Reads the first alternative that the value matches."""
    for kind in kinds[:-1]:
        try:
            return read(kind, value, subject)
        except TransportError:
            pass
    return read(kinds[-1], value, subject)


def _is_one_of(kind: object, values: Any, value: object) -> bool:
    # Newer services may send other values of an enumeration. A constant tells alternatives apart.
    if len(values) == 1 or kind == Environment:
        return value in values and type(value) is type(values[0])
    return isinstance(value, str)


def _is_negative(value: object) -> bool:
    return type(value) is int and value < 0


def _read_members(kind: Any, value: object, subject: str) -> Any:
    if not isinstance(value, dict):
        raise bad_response(f"{subject} is not an object")
    members: Dict[str, Any] = {}
    for member in fields(kind):
        name = "api_environment_tag" if member.name == "environment" else member.name
        if name in value:
            members[member.name] = read(_hints(kind)[member.name], value[name], name)
        elif member.default is MISSING:
            raise bad_response(f"{subject} has no {name}")
    return kind(**members)

"""Arguments and results of the client. The `repr` of a result holds no token."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

Environment = Literal["Customer", "Testing"]


class Keep(Enum):
    """Type of `KEEP`."""

    KEEP = "KEEP"


KEEP = Keep.KEEP
"""Default of the fields of a user group: the field is not sent and keeps its value. None clears a field."""


@dataclass(frozen=True)
class _Identity:
    team_id: int
    """Internal id of the user group. You need not store it."""
    token: str = field(repr=False)
    """The user group token, for servers. Pages get a session: see `create_session`."""
    name: str
    provided_id: str
    """The `user_group_id` that the user group was created with."""


@dataclass(frozen=True)
class UserGroup(_Identity):
    properties: Optional[Dict[str, Any]]
    """None if there are none."""


@dataclass(frozen=True)
class UpdatedUserGroup(UserGroup):
    environment: Environment


@dataclass(frozen=True)
class RotatedUserGroup(_Identity):
    environment: Environment


@dataclass(frozen=True)
class GetOrCreateResult:
    new_user_group: bool
    """True if this call created the user group. Also false if the call was retried because the response to the creation was
    lost."""
    user_group: UserGroup


class _ViewerId(TypedDict):
    id: str
    """Your own id for the person. Compared exactly."""


class Viewer(_ViewerId, total=False):
    """The person inside a user group who looks."""

    name: str
    properties: Mapping[str, object]
    """Variables for dashboards and SQL, `viewer.properties.…`. At most 2 KiB as JSON and 8 levels deep."""
    time_zone: str
    """A name of the IANA time zone database, such as `Europe/Berlin`."""
    locale: str
    """A language tag (BCP 47), such as `de-DE`."""


class Narrowing(TypedDict, total=False):
    """The part of the user group that a session leaves."""

    properties: Mapping[str, Sequence[Union[str, int, float, bool, None]]]
    """Values that stay of properties which are lists or single values. Each must be a value of the property now. A value that
    the property loses later is gone in the session too."""
    schemas: Sequence[str]
    """Keys of the mapping that stay."""


@dataclass(frozen=True)
class ViewerSession:
    token: str = field(repr=False)
    """Give it to the page that shows the dashboard."""
    session_id: str
    """Claim `jti` of the token."""
    expires_at: datetime
    """By the clock of the service."""
    expires_in_seconds: int


@dataclass(frozen=True)
class Schema:
    id: int
    provided_id: str


@dataclass(frozen=True)
class MappedDataSource:
    """A registered data source that a mapping names, with its schema."""

    id: int
    provided_id: str
    name: str
    schema: Schema


@dataclass(frozen=True)
class IntrospectedViewer:
    """The viewer of a session, as `create_session` got it."""

    id: str
    name: Optional[str]
    properties: Optional[Dict[str, Any]]
    time_zone: Optional[str]
    locale: Optional[str]


@dataclass(frozen=True)
class IntrospectedUserGroup:
    """The user group of an active user group token or session."""

    provided_id: str
    team_id: int
    name: str
    environment: Environment
    mapping: Optional[Dict[str, str]]
    data_sources: Dict[str, MappedDataSource]
    """Registered data sources by mapping key. Mapping entries that name no registered data source are absent."""
    properties: Optional[Dict[str, Any]]
    session_id: Optional[str]
    """Claim `jti` of a session. None for a user group token."""
    viewer: Optional[IntrospectedViewer]
    """The viewer of a session. None for a user group token."""
    resources: Optional[List[str]]
    """The only dashboards that the session is for. None for all."""
    token_issued_at: datetime
    token_expires_at: Optional[datetime]
    """End of the session, or of the grace period of a superseded token. None for the current user group token."""

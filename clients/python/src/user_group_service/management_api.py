"""Generated from the operations of the service by client/scripts/generate-types.js. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union

from ._management import operation, paged
from .errors import ErrorCode
from .user_group import Environment


@dataclass(frozen=True)
class OverviewWebhookEndpoints:
    failing: int
    """Number of active webhook endpoints whose last attempt failed."""
    disabled: int
    """Number of webhook endpoints that the service has disabled."""


@dataclass(frozen=True)
class Overview:
    """What needs attention in this environment. `isolation_findings` excludes unresolved mappings, and both
    exclude accepted findings.
    """

    user_groups: Total
    suspended_user_groups: Total
    unresolved_mappings: Total
    isolation_findings: Total
    webhook_endpoints: Optional[OverviewWebhookEndpoints]
    """None if the store has no webhooks (Citus)."""
    expiring_api_tokens: int
    """Number of API tokens that expire within 30 days."""
    unfinished_jobs: int
    """Number of unfinished jobs."""
    last_changes: List[AuditEvent]
    """The last ten changes, the newest first."""


@dataclass(frozen=True)
class Total:
    """A number of entries."""

    count: int
    """Number of entries."""
    is_exact: bool
    """False if there are at least `count`: counting stops at 10,000, or when it takes too long."""


@dataclass(frozen=True)
class AuditEventUserGroup:
    team_id: int
    """Team id of the user group."""
    provided_id: str
    """The user_group_id that was sent."""


@dataclass(frozen=True)
class AuditEvent:
    """The record of one change."""

    event_id: str
    """A UUID version 7, so ids sort by time."""
    occurred_at: datetime
    """Time of the change."""
    action: AuditAction
    author: str
    """`api_token:` and the id of the API token, `person:` and the id of the person at the identity provider,
    `cli:` and the name of the operator, or `service`.
    """
    request_id: Optional[str]
    """`X-Request-Id` of the response. None if there was no request."""
    client_address: Optional[str]
    """Address of the client, behind the proxies of `UGS_TRUSTED_PROXIES`. None if there was no request."""
    user_agent: Optional[str]
    """`User-Agent` of the request, at most 255 characters. None if there was none."""
    user_group: Optional[AuditEventUserGroup]
    """The changed user group. None if the change did not concern one."""
    details: Optional[Dict[str, Any]]
    """Depends on the action, for example `changed_fields` or `api_token_id`. Never contains a secret."""


AuditAction = Literal[
    "user_group.created",
    "user_group.updated",
    "user_group.token_rotated",
    "user_group.grace_period_ended",
    "user_group.suspended",
    "user_group.resumed",
    "user_group.deleted",
    "user_group.restored",
    "user_group.erased",
    "user_group.sessions_ended",
    "user_group.viewed_as",
    "api_token.created",
    "api_token.rotated",
    "api_token.limited",
    "api_token.revoked",
    "isolation_finding.accepted",
    "isolation_finding.reopened",
    "signing_key.created",
    "signing_key.rotated",
    "signing_key.retired",
    "workspace.created",
    "schema.created",
    "schema.updated",
    "schema.deleted",
    "data_source.created",
    "data_source.updated",
    "data_source.deleted",
    "webhook_endpoint.created",
    "webhook_endpoint.updated",
    "webhook_endpoint.secret_rotated",
    "webhook_endpoint.disabled",
    "webhook_endpoint.deleted",
    "job.created",
    "job.canceled",
    "console_session.created",
    "console_session.ended",
    "sign_in_link.created",
    "usage.erased",
    "audit_log.exported",
    "audit_log.pruned",
]
"""Kind of a change. Newer services may send others."""


class UserGroupSearch(TypedDict, total=False):
    """Search criteria. A user group must match all that are given. Strings have 1 to 255 characters."""

    text: str
    """Part of the user group id or of the name. Case and accents are ignored."""
    user_group_id_prefix: str
    """Prefix of the user group id, case-sensitive."""
    name: str
    """Part of the name. Case and accents are ignored."""
    property: str
    """JSON Pointer (RFC 6901) into the properties, such as `/plan`. Cannot point into arrays. At most 1,000
    characters. Requires `property_value`.
    """
    property_value: Union[str, float, bool]
    """Value at `property`. The string `5` also finds the number, and `true` the boolean. At most 1,000
    characters.
    """
    schema: str
    """Key of a mapping entry. Requires `data_source`."""
    data_source: str
    """Value of that mapping entry. Also finds user groups that name the same registered data source by its
    other id.
    """
    suspended: bool
    health: Literal["no_mapping", "unresolved", "never_viewed"]
    """A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far.
    No index has it, so a page examines a limited number of user groups and may have few matches, or none.
    """
    sort: Literal["name", "user_group_id", "created_at"]
    """Order. Names are ordered by code point, without the case of ASCII letters. With search criteria, a page
    examines a limited number of user groups and may have few matches, or none.
    """
    order: Literal["asc", "desc"]
    """Direction of `sort`, which it requires. Default: `asc`."""
    total: bool
    """If true, `total` is the number of matches."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class ListedUserGroupHealth:
    mapping_entries: int
    """Number of mapping entries."""
    unresolved_entries: int
    """Number of mapping entries that name no registered data source; 0 if no schema is registered."""
    last_introspected_at: Optional[datetime]
    """Time of the last introspection, rounded down to the minute. None if no renderer has introspected a token
    of the user group yet.
    """


@dataclass(frozen=True)
class ListedUserGroup:
    """A user group as a search returns it."""

    team_id: int
    """Identifies the user group in the management API."""
    provided_id: str
    """The user_group_id that was sent."""
    environment: Environment
    """The environment of the user group, which is that of the API token that created it."""
    name: str
    """Name of the user group."""
    mapping: Optional[Dict[str, str]]
    """The mapping as it was sent: schema to data source, each by id or by provided id. None if there is none."""
    properties: Optional[Dict[str, Any]]
    """The properties as sent; None if there are none."""
    revision: int
    """Increases with every change, including token rotations and suspensions. Part of the ETag."""
    created_at: datetime
    """Time of creation."""
    updated_at: datetime
    """Time of the last change of name, mapping or properties."""
    updated_by: Optional[str]
    """Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at
    the identity provider, `cli:` and the name of the operator, or `service`. None if it was not recorded.
    """
    token_issued_at: datetime
    """Issue time of the current token."""
    suspended_at: Optional[datetime]
    """Start of the suspension, during which tokens are inactive for the renderer. None if it is not suspended."""
    health: ListedUserGroupHealth


class _RequiredNewUserGroupFields(TypedDict):
    user_group_id: str
    """Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least
    one character must be visible.
    """
    name: str
    """Name of the user group. Unchanged if omitted. At least one character must be visible."""


class NewUserGroupFields(_RequiredNewUserGroupFields, total=False):
    mapping: Optional[Mapping[str, str]]
    """Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; None or {}
    clears it; unchanged if omitted.
    """
    properties: Optional[Mapping[str, object]]
    """Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels
    deep, without U+0000. Replaced as a whole; None clears it; unchanged if omitted.
    """


@dataclass(frozen=True)
class AdminUserGroup:
    """A user group as the management API shows it: everything except the token."""

    team_id: int
    """Identifies the user group in the management API."""
    provided_id: str
    """The user_group_id that was sent."""
    environment: Environment
    """The environment of the user group, which is that of the API token that created it."""
    name: str
    """Name of the user group."""
    mapping: Optional[Dict[str, str]]
    """The mapping as it was sent: schema to data source, each by id or by provided id. None if there is none."""
    properties: Optional[Dict[str, Any]]
    """The properties as sent; None if there are none."""
    revision: int
    """Increases with every change, including token rotations and suspensions. Part of the ETag."""
    created_at: datetime
    """Time of creation."""
    updated_at: datetime
    """Time of the last change of name, mapping or properties."""
    updated_by: Optional[str]
    """Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at
    the identity provider, `cli:` and the name of the operator, or `service`. None if it was not recorded.
    """
    token_issued_at: datetime
    """Issue time of the current token."""
    suspended_at: Optional[datetime]
    """Start of the suspension, during which tokens are inactive for the renderer. None if it is not suspended."""


class UserGroupChange(TypedDict, total=False):
    """Fields to change. Omitted fields keep their values."""

    name: str
    """Name of the user group. Unchanged if omitted. At least one character must be visible."""
    mapping: Optional[Mapping[str, str]]
    """Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; None or {}
    clears it; unchanged if omitted.
    """
    properties: Optional[Mapping[str, object]]
    """Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels
    deep, without U+0000. Replaced as a whole; None clears it; unchanged if omitted.
    """


class ProvidedIdQuery(TypedDict):
    user_group_id: str
    """Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least
    one character must be visible.
    """


class TokenRotation(TypedDict, total=False):
    grace_period_seconds: int
    """Time for which the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0."""


class SessionsToEnd(TypedDict, total=False):
    viewer_id: str
    """The viewer whose sessions end. Default: all viewers. At least one character must be visible."""


@dataclass(frozen=True)
class ViewAs:
    url: str = field(repr=False)
    """Shows dashboards as the user group. Open it once; do not pass it on."""
    expires_at: datetime
    """End of the session."""


@dataclass(frozen=True)
class UserGroupViewVariables:
    """The variables `user_group.…` of dashboards and SQL, as the renderer gets them."""

    provided_id: str
    """The user_group_id that was sent."""
    name: str
    """Name of the user group."""
    properties: Optional[Dict[str, Any]]
    """The properties as sent; None if there are none."""


@dataclass(frozen=True)
class UserGroupViewDataSource:
    schema: str
    """The key of the mapping entry."""
    data_source: str
    """The value of the mapping entry."""
    has_schema: bool
    """True if the key names a registered schema."""
    registered: Optional[DataSource]
    """The data source that the entry names. None if it is not registered: dashboards that use it are empty."""


@dataclass(frozen=True)
class UserGroupViewTokenGracePeriod:
    superseded_at: datetime
    """Time of the rotation."""
    valid_until: datetime
    """Time at which the old token stops."""


@dataclass(frozen=True)
class UserGroupViewToken:
    active: bool
    """True if the current token is active for the renderer."""
    issued_at: datetime
    """Time at which it was issued."""
    grace_periods: List[UserGroupViewTokenGracePeriod]
    """Running grace periods of old tokens, the last to end first, at most 100."""


@dataclass(frozen=True)
class UserGroupView:
    """Diagnosis of one user group: variables, data sources, token and recent versions."""

    user_group: AdminUserGroup
    variables: UserGroupViewVariables
    """The variables `user_group.…` of dashboards and SQL, as the renderer gets them."""
    data_sources: List[UserGroupViewDataSource]
    """One entry for each mapping entry."""
    token: UserGroupViewToken
    last_introspected_at: Optional[datetime]
    """Time of the last introspection, rounded down to the minute. None if no renderer has introspected a token
    of the user group yet.
    """
    versions: List[UserGroupVersion]
    """The ten most recent versions, the newest first."""


@dataclass(frozen=True)
class DataSource:
    """A registered data source."""

    id: int
    """Id that the service assigned."""
    provided_id: str
    """The id that was assigned at registration."""
    name: str


@dataclass(frozen=True)
class UserGroupVersion:
    """An earlier state of a user group, before a change of its name, mapping or properties."""

    revision: int
    """The last revision with this state."""
    name: str
    """Name of the user group."""
    mapping: Optional[Dict[str, str]]
    """The mapping as it was sent: schema to data source, each by id or by provided id. None if there is none."""
    properties: Optional[Dict[str, Any]]
    """The properties as sent; None if there are none."""
    updated_at: datetime
    """Time of the last change of name, mapping or properties."""
    updated_by: Optional[str]
    """Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at
    the identity provider, `cli:` and the name of the operator, or `service`. None if it was not recorded.
    """


@dataclass(frozen=True)
class Difference:
    """A difference between two states. `before` is absent if the value was added, `after` if it was removed."""

    path: str
    """A JSON Pointer (RFC 6901), such as `/properties/plan`."""
    before: Optional[Any] = None
    after: Optional[Any] = None


class PageLimit(TypedDict, total=False):
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class DeletedUserGroup:
    """A user group that was deleted within the last 30 days."""

    team_id: int
    """Identifies the user group in the management API."""
    provided_id: str
    """The user_group_id that was sent."""
    name: str
    """Name of the user group."""
    deleted_at: datetime
    """Time of the deletion."""
    deleted_by: Optional[str]
    """Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at
    the identity provider, `cli:` and the name of the operator, or `service`. None if it was not recorded.
    """


@dataclass(frozen=True)
class UserGroupErasureErased:
    """What was erased, besides the user group itself."""

    versions: int
    """Number of earlier versions."""
    usage_rows: int
    """Number of rows of usage: one for each month, viewer and dashboard."""
    audit_events: int
    """Number of audit events that lost the id and the details."""


@dataclass(frozen=True)
class UserGroupErasureRetained:
    place: Literal["events", "search_index", "jobs", "audit_log", "backups"]
    """Place that still has the id."""
    message: str
    """What it has, and until when."""


@dataclass(frozen=True)
class UserGroupErasure:
    team_id: int
    """Identifies the user group in the management API."""
    erased: UserGroupErasureErased
    """What was erased, besides the user group itself."""
    retained: List[UserGroupErasureRetained]
    """What retention still holds."""


@dataclass(frozen=True)
class Job:
    """A change of many user groups, which goes on after the response, also after a restart of the service."""

    id: int
    """Id of the job."""
    action: JobAction
    grace_period_seconds: Optional[int]
    """For `rotate`. None otherwise."""
    filter: Optional[JobFilter]
    """None if the job has team ids."""
    state: Literal["queued", "running", "canceling", "canceled", "finished"]
    """`queued` while an earlier job of the workspace is unfinished. `canceling` until the user groups that are
    in flight are recorded.
    """
    author: str
    """Author of the changes, as in the audit log."""
    request_id: str
    """`request_id` of the audit events of the changes."""
    created_at: datetime
    """Time of creation."""
    started_at: Optional[datetime]
    """Time of the start. None if it is queued."""
    finished_at: Optional[datetime]
    """Time of the end. None if it is unfinished."""
    total: Total
    processed: int
    """Number of user groups with a result."""
    done: int
    """Number of user groups that were changed."""
    unchanged: int
    """Number of user groups that already were as wanted."""
    failed: int
    """Number of user groups that could not be changed."""


JobAction = Literal["suspend", "resume", "rotate", "delete", "promote"]
"""The change that the job makes to each user group."""


@dataclass(frozen=True)
class JobFilter:
    """Search criteria. Empty for every user group."""

    text: Optional[str] = None
    """Part of the user group id or of the name. Case and accents are ignored."""
    user_group_id_prefix: Optional[str] = None
    """Prefix of the user group id, case-sensitive."""
    name: Optional[str] = None
    """Part of the name. Case and accents are ignored."""
    property: Optional[str] = None
    """JSON Pointer (RFC 6901) into the properties, such as `/plan`. Cannot point into arrays. At most 1,000
    characters. Requires `property_value`.
    """
    property_value: Optional[Union[str, float, bool]] = None
    """Value at `property`. The string `5` also finds the number, and `true` the boolean. At most 1,000
    characters.
    """
    schema: Optional[str] = None
    """Key of a mapping entry. Requires `data_source`."""
    data_source: Optional[str] = None
    """Value of that mapping entry. Also finds user groups that name the same registered data source by its
    other id.
    """
    suspended: Optional[bool] = None
    """Only user groups that are, or are not, suspended."""
    health: Optional[Literal["no_mapping", "unresolved", "never_viewed"]] = None
    """A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far.
    No index has it, so a page examines a limited number of user groups and may have few matches, or none.
    """


class _RequiredJobFields(TypedDict):
    action: JobAction


class JobFields(_RequiredJobFields, total=False):
    """The selection is one of: `team_ids`, `all`, or search criteria, all of which a user group must match."""

    grace_period_seconds: int
    """For `rotate`: time for which the old tokens stay valid for viewing, in whole seconds: 0 to 604800.
    Default: 0.
    """
    team_ids: Sequence[int]
    """Team ids: 1 to 1000, without duplicates. For `promote`, those of `Testing`."""
    all: Literal[True]
    """Selects every user group."""
    text: str
    """Part of the user group id or of the name. Case and accents are ignored."""
    user_group_id_prefix: str
    """Prefix of the user group id, case-sensitive."""
    name: str
    """Part of the name. Case and accents are ignored."""
    property: str
    """JSON Pointer (RFC 6901) into the properties, such as `/plan`. Cannot point into arrays. At most 1,000
    characters. Requires `property_value`.
    """
    property_value: Union[str, float, bool]
    """Value at `property`. The string `5` also finds the number, and `true` the boolean. At most 1,000
    characters.
    """
    schema: str
    """Key of a mapping entry. Requires `data_source`."""
    data_source: str
    """Value of that mapping entry. Also finds user groups that name the same registered data source by its
    other id.
    """
    suspended: bool
    """Only user groups that are, or are not, suspended."""
    health: Literal["no_mapping", "unresolved", "never_viewed"]
    """A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far.
    No index has it, so a page examines a limited number of user groups and may have few matches, or none.
    """


class JobResultSearch(TypedDict, total=False):
    outcome: Literal["done", "unchanged", "failed"]
    """Only results with this outcome. Default: all."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class JobResultError:
    code: str
    """Error code of the operation."""
    message: str


@dataclass(frozen=True)
class JobResult:
    """What a job did to one user group."""

    number: int
    """Place among the results, from 1."""
    team_id: int
    """Internal id of the user group. You do not need to store it."""
    provided_id: Optional[str]
    """None if no user group had the team id."""
    outcome: Literal["done", "unchanged", "failed"]
    """`unchanged` if the user group already was as wanted."""
    error: Optional[JobResultError]
    """The reason of `failed`. None otherwise."""


class FindingSearch(TypedDict, total=False):
    """Search criteria. A finding must match all that are given."""

    kind: Literal["shared", "unresolved", "mapped_twice"]
    """`shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data
    source. `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with
    another one.
    """
    status: Literal["open", "accepted"]
    """`accepted` as long as the same user groups are affected, or more than 200 as when it was accepted.
    Otherwise `open`.
    """
    since: datetime
    """Findings with a `changed_at` at or after this time."""
    until: datetime
    """Findings with a `changed_at` before this time."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class IsolationFindingUserGroup:
    team_id: int
    """Internal id of the user group. You do not need to store it."""
    provided_id: str
    """The user_group_id that was sent."""
    name: str
    """Name of the user group."""


@dataclass(frozen=True)
class IsolationFinding:
    """A finding of the isolation check. `affected` counts the user groups, up to 200."""

    kind: Literal["shared", "unresolved", "mapped_twice"]
    """`shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data
    source. `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with
    another one.
    """
    schema: str
    """Search for `schema` and `data_source` to find all affected user groups."""
    data_source: str
    registered: Optional[DataSource]
    """None if it is not registered."""
    user_groups: List[IsolationFindingUserGroup]
    """The first ten affected user groups."""
    affected: Total
    changed_at: datetime
    """Time at which name, mapping or properties of one of the first 200 last changed."""
    status: Literal["open", "accepted"]
    """`accepted` as long as the same user groups are affected, or more than 200 as when it was accepted.
    Otherwise `open`.
    """
    acceptance: Optional[FindingAcceptance]
    """None if nobody accepted it. An open finding with an acceptance has changed since."""
    version: str
    """Changes if other user groups are affected. Send it to accept the finding."""


@dataclass(frozen=True)
class FindingAcceptance:
    """The last acceptance of a finding."""

    reason: str
    accepted_at: datetime
    """Time of the acceptance."""
    accepted_by: str


class AcceptanceFields(TypedDict):
    kind: Literal["shared", "unresolved", "mapped_twice"]
    """`shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data
    source. `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with
    another one.
    """
    schema: str
    """`schema` of the finding."""
    data_source: str
    """`data_source` of the finding."""
    version: str
    """Changes if other user groups are affected. Send it to accept the finding."""
    reason: str
    """Why the finding is intended: 1 to 255 characters. At least one character must be visible."""


class FindingName(TypedDict):
    kind: Literal["shared", "unresolved", "mapped_twice"]
    """`shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data
    source. `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with
    another one.
    """
    schema: str
    """`schema` of the finding."""
    data_source: str
    """`data_source` of the finding."""


class CandidateSearch(TypedDict, total=False):
    name: str
    """Part of the name. Case and accents are ignored."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class PromotionCandidate:
    """A user group of `Testing` that can be promoted."""

    team_id: int
    """Internal id of the user group. You do not need to store it."""
    provided_id: str
    """The user_group_id that was sent."""
    name: str
    """Name of the user group."""
    updated_at: datetime
    """Time of the last change of name, mapping or properties."""
    suspended_at: Optional[datetime]
    """Time of suspension in `Testing`, which a promotion does not copy. None if it is not suspended."""
    unresolved_entries: int
    """Number of mapping entries that name no registered data source of `Customer`; 0 if it has no schema. With
    `UGS_MAPPING=registered`, the user group is refused, otherwise its dashboards find no data.
    """


class _RequiredPromotionFields(TypedDict):
    user_group_ids: Sequence[str]
    """Ids in `Testing`: 1 to 200, without duplicates."""


class PromotionFields(_RequiredPromotionFields, total=False):
    dry_run: bool
    """Changes nothing and returns the differences. Default: false."""


@dataclass(frozen=True)
class PromotionResultSuspended:
    """Where the user group is suspended. A promotion changes neither: a new user group is active."""

    in_testing: bool
    in_customer: bool


@dataclass(frozen=True)
class PromotionResult:
    """Result of promoting one user group, or of a dry run."""

    provided_id: str
    """The user_group_id that was sent."""
    outcome: Literal["created", "updated", "unchanged", "not_found", "refused"]
    """`created`, `updated` or `unchanged` in `Customer`; `not_found` in `Testing`; `refused` if the mapping
    names something that is not registered in `Customer`.
    """
    differences: List[Difference]
    team_id: Optional[int]
    """Team id in `Customer`. None if the user group does not exist there."""
    message: Optional[str]
    """Reason for `refused`. None otherwise."""
    suspended: PromotionResultSuspended
    """Where the user group is suspended. A promotion changes neither: a new user group is active."""
    unresolved_entries: int
    """Number of mapping entries that name no registered data source of `Customer`; 0 if it has no schema. With
    `UGS_MAPPING=registered`, the user group is refused, otherwise its dashboards find no data.
    """


class UsageSearch(TypedDict, total=False):
    month: str
    """A month in UTC. Default: the current one."""
    by: Literal["user_group", "viewer", "resource", "day"]
    """What an entry is about."""
    team_id: str
    """Only these user groups: up to 200 team ids, separated by commas."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class Usage:
    """Who looked. A user group has `team_id`, `provided_id`, `name`, `viewers`, `active_days`, `viewer_days`
    and `last_seen_at`; a viewer has `viewer_id` instead of `viewers` and `viewer_days`; a resource has
    `resource`, `user_groups`, `viewers`, `active_days`, `viewer_days` and `last_seen_at`; a day has `day`,
    `user_groups` and `viewers`.
    """

    team_id: Optional[int] = None
    """Team id of the user group."""
    provided_id: Optional[str] = None
    """The user_group_id. None if the user group was deleted for good."""
    name: Optional[str] = None
    """Name of the user group. None if the user group was deleted for good."""
    viewer_id: Optional[str] = None
    """Of a viewer."""
    resource: Optional[str] = None
    """Of a resource. Empty for looks that named none."""
    day: Optional[str] = None
    """Of a day, in UTC."""
    user_groups: Optional[int] = None
    """Number of user groups that looked. Of a resource or day."""
    viewers: Optional[int] = None
    """Number of known viewers."""
    active_days: Optional[int] = None
    """Number of days on which anyone looked."""
    viewer_days: Optional[int] = None
    """Number of pairs of a known viewer and a day on which that viewer looked."""
    last_seen_at: Optional[datetime] = None
    """Time of the last look. Of a user group to the minute; of a viewer or resource, a later look of the same
    day may be missing.
    """
    truncated: Optional[bool] = None
    """True if some viewers are counted as one. Otherwise absent."""


class _RequiredErasureOfViewer(TypedDict):
    viewer_id: str
    """The viewer."""


class ErasureOfViewer(_RequiredErasureOfViewer, total=False):
    team_id: int
    """Only in this user group. Viewer ids may repeat in others."""


class _RequiredLeakedTokenFields(TypedDict):
    token: str
    """The leaked user group token, viewer session or API token: 1 to 6144 characters."""


class LeakedTokenFields(_RequiredLeakedTokenFields, total=False):
    rotate: bool
    """If true, stops the token at once: rotates a current user group token, ends the grace period of a
    superseded one, ends all sessions of the viewer of a session, or revokes an API token. Default: false,
    which only looks the token up.
    """


@dataclass(frozen=True)
class LeakedTokenUserGroupToken:
    kind: Literal["user_group_token"]
    works: bool
    """True if the token was valid when the request arrived."""
    user_group: AdminUserGroup
    valid_until: Optional[datetime]
    """End of the grace period of a superseded token. None if it was the current token."""
    rotated: bool
    """True if this request rotated the token."""


@dataclass(frozen=True)
class LeakedTokenViewerSession:
    kind: Literal["viewer_session"]
    works: bool
    """True if the token was valid when the request arrived."""
    user_group: AdminUserGroup
    viewer_id: str
    session_id: str
    expires_at: datetime
    """End of the session."""
    ended: bool
    """True if this request ended the sessions of the viewer."""


@dataclass(frozen=True)
class LeakedTokenApiToken:
    kind: Literal["api_token"]
    works: bool
    """True if the token was valid when the request arrived."""
    api_token: ApiToken


@dataclass(frozen=True)
class LeakedTokenUnknown:
    kind: Literal["unknown"]
    """Not a token of this workspace and environment."""
    works: bool
    """True if the token was valid when the request arrived."""


LeakedToken = Union[LeakedTokenUserGroupToken, LeakedTokenViewerSession, LeakedTokenApiToken, LeakedTokenUnknown]
"""The owner of a leaked token, in its state after the report."""


@dataclass(frozen=True)
class ApiToken:
    """An API token without its secret, which is shown only once."""

    id: int
    """Id of the API token."""
    name: str
    environment: Environment
    """The environment of the user group, which is that of the API token that created it."""
    scopes: List[Scope]
    created_at: datetime
    """Time of creation."""
    expires_at: Optional[datetime]
    """Time of expiry. None if it never expires."""
    revoked_at: Optional[datetime]
    """Time of revocation. None if it is not revoked."""
    last_used_at: Optional[datetime]
    """Time of the last use, rounded down to the minute. None if it was never used."""
    replaced_by: Optional[int]
    """Id of the API token that replaced this one. None if none did."""
    rate_limit: Optional[str]
    """Requests per second and burst, for example `500:2000`. None if the limit of the service applies."""


Scope = Literal["read", "write", "introspect", "observe", "support", "admin"]
"""A permission of an API token."""


class _RequiredApiTokenFields(TypedDict):
    name: str
    """Purpose of the API token: 1 to 255 characters, need not be unique. At least one character must be
    visible.
    """
    scopes: Sequence[Scope]
    """At least one scope."""


class ApiTokenFields(_RequiredApiTokenFields, total=False):
    expires_in_seconds: int
    """Lifetime in seconds: 1 to 315360000, ten years. Default: it never expires."""


@dataclass(frozen=True)
class NewApiToken:
    api_token: ApiToken
    token: str = field(repr=False)
    """The API token. It is shown only once, so store it."""


class ApiTokenRotation(TypedDict, total=False):
    overlap_seconds: int
    """Time for which the old API token keeps working, in whole seconds: 0 to 2592000, 30 days. Default: 86400,
    a day.
    """


@dataclass(frozen=True)
class RotatedApiToken:
    api_token: ApiToken
    token: str = field(repr=False)
    """The API token. It is shown only once, so store it."""
    replaces: ApiToken


@dataclass(frozen=True)
class Workspace:
    id: int
    """Id of the workspace."""
    name: str
    created_at: datetime
    """Time of creation."""


class WorkspaceFields(TypedDict):
    name: str
    """1 to 255 characters, unique among workspaces. At least one character must be visible."""


@dataclass(frozen=True)
class NewWorkspace:
    workspace: Workspace
    api_token: ApiToken
    token: str = field(repr=False)
    """An API token with the scope `admin` in the new workspace. It is shown only once, so store it."""


@dataclass(frozen=True)
class ConsoleSession:
    id: int
    """Id of the console session."""
    api_token_id: Optional[int]
    """Id of the API token. None for a person."""
    person: Optional[str]
    """Id of the person at the identity provider. None for an API token."""
    name: str
    """Name of the person or of the API token."""
    email: Optional[str]
    """None if the identity provider sent none that is verified."""
    scopes: List[Literal["observe", "support", "admin"]]
    created_at: datetime
    """Time of the sign-in."""
    last_used_at: datetime
    """Time of the last request, up to a minute late."""
    expires_at: datetime
    """Latest end."""


class AuditSearch(TypedDict, total=False):
    """Search criteria. An event must match all that are given."""

    since: datetime
    """Events at or after this time."""
    until: datetime
    """Events before this time."""
    team_id: int
    """Team id of a user group."""
    user_group_id: str
    """Events of the user group with this id. If it was deleted, of all user groups that had the id."""
    action: AuditAction
    author: str
    """Author of the changes: `api_token:` and the id of the API token, `person:` and the id of the person at
    the identity provider, `cli:` and the name of the operator, or `service`. `cli:` alone finds those of
    all operators at the command line.
    """
    request_id: str
    """`X-Request-Id` of a request."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class RegisteredSchema:
    id: int
    """Id that the service assigned."""
    provided_id: str
    """The id that you assigned."""
    name: str
    created_at: datetime
    """Time of registration."""


class SchemaFields(TypedDict):
    provided_id: str
    """Your id for it: 1 to 255 characters. At least one character must be visible."""
    name: str
    """1 to 255 characters. At least one character must be visible."""


class DataSourceSearch(TypedDict, total=False):
    schema_id: int
    """Only data sources of this schema. Default: all."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class RegisteredDataSource:
    id: int
    """Id that the service assigned."""
    provided_id: str
    """The id that you assigned."""
    name: str
    created_at: datetime
    """Time of registration."""
    schema_id: int
    """Id of its schema."""


class DataSourceFields(TypedDict):
    schema_id: int
    """Id of its schema."""
    provided_id: str
    """Your id for it: 1 to 255 characters. At least one character must be visible."""
    name: str
    """1 to 255 characters. At least one character must be visible."""


@dataclass(frozen=True)
class WebhookEndpoint:
    """A URL that receives the events of this environment, signed by Standard Webhooks."""

    id: int
    """Id of the webhook endpoint."""
    name: str
    url: str
    """An https URL at a public address, without user name, password and fragment. Settings of the service may
    allow others.
    """
    event_types: List[EventType]
    """Types of the events that it receives. Empty for all."""
    state: Literal["active", "paused", "disabled"]
    """`disabled` by the service after 3 days without success. Events then wait as if paused."""
    health: Literal["ok", "failing", "unknown"]
    """`ok` or `failing` by the last attempt, `unknown` before the first one."""
    created_at: datetime
    """Time of creation."""
    updated_at: datetime
    """Time of the last change."""
    previous_secrets_valid_until: List[datetime]
    """Times until which replaced secrets sign too, earliest first."""
    last_success_at: Optional[datetime]
    """Time of the last attempt that succeeded. None if none did."""
    failing_since: Optional[datetime]
    """Time of the first failed attempt after the last success. None if none failed."""
    pending: int
    """Number of events that wait for their first attempt."""
    failing: int
    """Number of events whose last attempt failed."""
    oldest_event_at: Optional[datetime]
    """Time of the oldest undelivered event. None if there is none."""


EventType = Literal[
    "user_group.created",
    "user_group.updated",
    "user_group.token_rotated",
    "user_group.grace_period_ended",
    "user_group.suspended",
    "user_group.resumed",
    "user_group.deleted",
    "user_group.restored",
    "user_group.sessions_ended",
    "schema.created",
    "schema.updated",
    "schema.deleted",
    "data_source.created",
    "data_source.updated",
    "data_source.deleted",
    "api_token.revoked",
    "signing_key.retired",
]
"""For example `user_group.suspended`. Newer services may send others."""


class _RequiredWebhookEndpointFields(TypedDict):
    name: str
    """1 to 255 characters, need not be unique. At least one character must be visible."""
    url: str
    """An https URL at a public address, without user name, password and fragment. Settings of the service may
    allow others.
    """


class WebhookEndpointFields(_RequiredWebhookEndpointFields, total=False):
    event_types: Sequence[EventType]
    """Types of the events that it receives. Empty for all."""


@dataclass(frozen=True)
class WebhookEndpointSecret:
    webhook_endpoint: WebhookEndpoint
    secret: str = field(repr=False)
    """Verifies signatures (Standard Webhooks). It is shown only once, so store it."""


class WebhookEndpointChange(TypedDict, total=False):
    """Fields to change. Omitted fields keep their values."""

    name: str
    """1 to 255 characters. At least one character must be visible."""
    url: str
    """An https URL at a public address, without user name, password and fragment. Settings of the service may
    allow others.
    """
    event_types: Sequence[EventType]
    """Types of the events that it receives. Empty for all."""
    state: Literal["active", "paused"]
    """While paused, events wait, at most for the retention of events and 3 days."""


class WebhookSecretRotation(TypedDict, total=False):
    overlap_seconds: int
    """Time for which the old secret signs too, in whole seconds: 0 to 2592000, 30 days. Default: 86400, a day.
    Secrets that were replaced earlier keep their own times.
    """


@dataclass(frozen=True)
class WebhookTest:
    delivered: bool
    """True if the response is a 2xx."""
    request_headers: Optional[Dict[str, str]]
    """Headers of the request, without those of the connection. None never."""
    request_body: str
    """Body of the request."""
    response_headers: Optional[Dict[str, str]]
    """The first headers of the last response, at most 2,000 characters, without cookies and tokens. None if
    there was none.
    """
    response_status: Optional[int]
    """HTTP status of the response. None if there was none."""
    duration_ms: int
    """Duration in milliseconds."""
    error_code: Optional[str]
    """Reason why there was no response, such as `ECONNREFUSED`. None if there was one."""


class WebhookDeliverySearch(TypedDict, total=False):
    state: Literal["pending", "failing", "delivered"]
    """Only deliveries in this state. Default: all."""
    limit: int
    """Maximum number of entries per page: 1 to 200. Default: 50."""


@dataclass(frozen=True)
class WebhookDelivery:
    """The delivery of one event to one webhook endpoint."""

    id: int
    """Id of the delivery."""
    event_id: str
    """`webhook-id` of the request, the same for each attempt."""
    event_type: EventType
    occurred_at: datetime
    """Time of the event."""
    team_id: Optional[int]
    """The user group. None if the event concerns the whole environment."""
    state: Literal["pending", "failing", "delivered"]
    """`pending` before the first attempt, `failing` after an attempt that failed."""
    attempts: int
    """Number of attempts."""
    last_attempt_at: Optional[datetime]
    """Time of the last attempt. None if there was none."""
    next_attempt_at: Optional[datetime]
    """Time of the next attempt. None if it was delivered, and while it waits for an earlier event of the user
    group.
    """
    response_status: Optional[int]
    """HTTP status of the last response. None if there was none."""
    duration_ms: Optional[int]
    """Duration of the last attempt, in milliseconds. None if there was none."""
    error_code: Optional[str]
    """Reason why the last attempt got no response, such as `ECONNREFUSED`. None if it got one."""


@dataclass(frozen=True)
class WebhookDeliveryDetails:
    """A delivery with the request and the head of the response of its last attempt."""

    id: int
    """Id of the delivery."""
    event_id: str
    """`webhook-id` of the request, the same for each attempt."""
    event_type: EventType
    occurred_at: datetime
    """Time of the event."""
    team_id: Optional[int]
    """The user group. None if the event concerns the whole environment."""
    state: Literal["pending", "failing", "delivered"]
    """`pending` before the first attempt, `failing` after an attempt that failed."""
    attempts: int
    """Number of attempts."""
    last_attempt_at: Optional[datetime]
    """Time of the last attempt. None if there was none."""
    next_attempt_at: Optional[datetime]
    """Time of the next attempt. None if it was delivered, and while it waits for an earlier event of the user
    group.
    """
    response_status: Optional[int]
    """HTTP status of the last response. None if there was none."""
    duration_ms: Optional[int]
    """Duration of the last attempt, in milliseconds. None if there was none."""
    error_code: Optional[str]
    """Reason why the last attempt got no response, such as `ECONNREFUSED`. None if it got one."""
    request_headers: Optional[Dict[str, str]]
    """Headers of the request, without those of the connection. None if there was no attempt, or its secret
    could not be decrypted.
    """
    request_body: str
    """Body of the request."""
    response_headers: Optional[Dict[str, str]]
    """The first headers of the last response, at most 2,000 characters, without cookies and tokens. None if
    there was none.
    """


class _RequiredWebhookRedelivery(TypedDict):
    since: datetime
    """Events at or after this time."""


class WebhookRedelivery(_RequiredWebhookRedelivery, total=False):
    until: datetime
    """Events before this time. Default: all."""


class VersionQuery(TypedDict, total=False):
    to: int
    """Revision of another version. Default is the current state."""


class _RequiredImportRow(TypedDict):
    user_group_id: str
    """Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least
    one character must be visible.
    """


class ImportRow(_RequiredImportRow, total=False):
    name: str
    """Name of the user group. Unchanged if omitted. At least one character must be visible."""
    mapping: Optional[Mapping[str, str]]
    """Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; None or {}
    clears it; unchanged if omitted.
    """
    properties: Optional[Mapping[str, object]]
    """Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels
    deep, without U+0000. Replaced as a whole; None clears it; unchanged if omitted.
    """


@dataclass(frozen=True)
class ImportResultErrorField:
    path: str
    """A JSON Pointer (RFC 6901) into the body."""
    message: str


@dataclass(frozen=True)
class ImportResultError:
    code: ErrorCode
    """A stable code for programs."""
    message: str
    """A text for people. It may change."""
    fields: Optional[List[ImportResultErrorField]] = None
    """The invalid fields, if any."""


@dataclass(frozen=True)
class ImportResult:
    line: int
    """Line on which the row starts."""
    user_group_id: Optional[str]
    """None if the row has no readable id."""
    outcome: Literal["created", "updated", "unchanged", "refused"]
    error: Optional[ImportResultError] = None


class ManagementOperations:
    """Methods with one request each. The clients have their errors and retries."""

    @operation("GET", "/overview")
    def get_overview(self, *, deadline_seconds: Optional[float] = None) -> Overview:
        """Shows what needs attention. Numbers of user groups, findings, failing webhooks, expiring API tokens and
        unfinished jobs, and the last changes. It takes at most about 0.5 s.
        """
        raise NotImplementedError

    @paged("/user-groups", items="user_groups")
    def search_user_groups(
        self,
        search: UserGroupSearch = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> ListedUserGroup:
        """Finds user groups. Ordered by `sort`; without it, by id if `user_group_id_prefix` is given, otherwise by
        team id. A page takes at most about 100 ms, so it may have fewer entries than `limit`, or none,
        although another one follows.
        """
        raise NotImplementedError

    @operation("POST", "/user-groups", returns="user_group", status=201, retry={"already_exists": "unknown"})
    def create_user_group(
        self,
        fields: NewUserGroupFields,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> AdminUserGroup:
        """Creates a user group. Never changes an existing user group. Your backend gets the token with its next
        request for this id. If a retry after a lost response gets `already_exists`, the method raises the
        error of the lost attempt.
        """
        raise NotImplementedError

    @operation("GET", "/user-groups/{team_id}", returns="user_group")
    def get_user_group(self, team_id: int, *, deadline_seconds: Optional[float] = None) -> AdminUserGroup:
        """Shows a user group."""
        raise NotImplementedError

    @operation("PATCH", "/user-groups/{team_id}", returns="user_group", retry={"revision_mismatch": "unknown"})
    def update_user_group(
        self,
        team_id: int,
        fields: UserGroupChange,
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> AdminUserGroup:
        """Changes name, mapping or properties. Omitted fields keep their values; None clears a field. The previous
        state is kept as a version. A repeated request overwrites changes that others made in between, unless
        it names a revision. With `ifRevision`, a retry never overwrites: it fails with the error of the lost
        attempt.
        """
        raise NotImplementedError

    @operation("DELETE", "/user-groups/{team_id}", returns="deleted", retry={"user_group_not_found": "succeeded"})
    def delete_user_group(
        self,
        team_id: int,
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> None:
        """Deletes a user group. Its tokens stop working at once. It can be restored for 30 days, unless another
        user group takes its id. If a retry after a lost response gets `user_group_not_found`, the operation
        succeeded.
        """
        raise NotImplementedError

    @operation("DELETE", "/user-groups", returns="deleted", retry={"user_group_not_found": "succeeded"})
    def delete_user_group_by_provided_id(
        self,
        fields: ProvidedIdQuery,
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> None:
        """Deletes the user group with your id. For a backend that offboards a customer. As the deletion by team
        id: tokens stop working at once, the user group can be restored for 30 days, and `If-Match` refuses the
        deletion if the user group has changed. If a retry after a lost response gets `user_group_not_found`,
        the operation succeeded.
        """
        raise NotImplementedError

    @operation("GET", "/user-groups/{team_id}/token", returns="token")
    def get_user_group_token(self, team_id: int, *, deadline_seconds: Optional[float] = None) -> str:
        """Shows the token of a user group."""
        raise NotImplementedError

    @operation("POST", "/user-groups/{team_id}/rotate", returns="token", retry="never")
    def _rotate_user_group_token(
        self,
        team_id: int,
        fields: TokenRotation = {},
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> Optional[str]:
        """Rotates the token of a user group. Replaces the token. The old token stops working at once, unless
        `grace_period_seconds` keeps it valid for viewing. The response has the new token only with the scope
        `admin`. A repeated request that names no revision rotates again. Never retried if an attempt may have
        taken effect, which includes a 503.
        """
        raise NotImplementedError

    @operation("POST", "/user-groups/{team_id}/suspend", returns="user_group", retry={"revision_mismatch": "unknown"})
    def suspend_user_group(
        self,
        team_id: int,
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> AdminUserGroup:
        """Suspends a user group. Its tokens are inactive for the renderer, from its next introspection.
        `/api/user` continues to work. A suspended user group stays as it is. A repeated request suspends again
        if the user group was resumed in between. With `ifRevision`, a retry never overwrites: it fails with
        the error of the lost attempt.
        """
        raise NotImplementedError

    @operation("POST", "/user-groups/{team_id}/resume", returns="user_group", retry={"revision_mismatch": "unknown"})
    def resume_user_group(
        self,
        team_id: int,
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> AdminUserGroup:
        """Resumes a suspended user group. Its current token, and superseded ones in their grace period, work
        again. A repeated request resumes again if the user group was suspended in between. With `ifRevision`,
        a retry never overwrites: it fails with the error of the lost attempt.
        """
        raise NotImplementedError

    @operation("POST", "/user-groups/{team_id}/end-sessions", returns="user_group", retry={"revision_mismatch": "unknown"})
    def end_sessions_of_user_group(
        self,
        team_id: int,
        fields: SessionsToEnd = {},
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> AdminUserGroup:
        """Ends the viewer sessions of a user group. Ends the sessions of one viewer, or of all, that were created
        until now. The user group token stays. A repeated request also ends sessions that were created in
        between. With `ifRevision`, a retry never overwrites: it fails with the error of the lost attempt.
        """
        raise NotImplementedError

    @operation("POST", "/user-groups/{team_id}/view-as")
    def view_as_user_group(self, team_id: int, *, deadline_seconds: Optional[float] = None) -> ViewAs:
        """Views as a user group. Creates a viewer session of 5 minutes, and returns the URL of your page of
        dashboards with it. The id of the viewer is `support:` and the name of the API token, and the viewer
        has `support: true`. It is in the audit log. Requires `UGS_DASHBOARD_URL`.
        """
        raise NotImplementedError

    @operation("GET", "/user-groups/{team_id}/view")
    def view_user_group(self, team_id: int, *, deadline_seconds: Optional[float] = None) -> UserGroupView:
        """Shows what a user group sees. Returns the variables as the renderer gets them, the data sources that the
        mapping names, whether the token is active, the last versions, and the time of the last introspection.
        """
        raise NotImplementedError

    @operation("GET", "/user-groups/{team_id}/versions", returns="versions")
    def list_user_group_versions(
        self,
        team_id: int,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> List[UserGroupVersion]:
        """Lists earlier states of a user group. Returns earlier values of name, mapping and properties within the
        last 100 revisions, the newest first.
        """
        raise NotImplementedError

    @operation("GET", "/user-groups/{team_id}/versions/{revision}/diff", returns="differences")
    def diff_user_group_versions(
        self,
        team_id: int,
        revision: int,
        search: VersionQuery = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> List[Difference]:
        """Compares a version with another or with the current state."""
        raise NotImplementedError

    @operation("POST", "/user-groups/{team_id}/versions/{revision}/restore", returns="user_group", retry={"revision_mismatch": "unknown", "not_found": "unknown"})
    def restore_user_group_version(
        self,
        team_id: int,
        revision: int,
        *,
        if_revision: Optional[int] = None,
        deadline_seconds: Optional[float] = None,
    ) -> AdminUserGroup:
        """Restores an earlier state of a user group. Restores name, mapping and properties; the token stays. This
        is a change like any other and can be reverted. Fails with `not_found` if the version does not exist or
        is no longer kept. If a retry after a lost response gets `not_found`, the method raises the error of
        the lost attempt. With `ifRevision`, a retry never overwrites: it fails with the error of the lost
        attempt.
        """
        raise NotImplementedError

    @paged("/deleted-user-groups", items="user_groups")
    def list_deleted_user_groups(
        self,
        search: PageLimit = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> DeletedUserGroup:
        """Lists user groups deleted in the last 30 days. Ordered by team id."""
        raise NotImplementedError

    @operation("DELETE", "/deleted-user-groups/{team_id}", retry={"user_group_not_found": "unknown"})
    def erase_user_group(self, team_id: int, *, deadline_seconds: Optional[float] = None) -> UserGroupErasure:
        """Erases a deleted user group. Removes it at once, with its usage, its versions, and its id and all
        details in the audit log, and returns what was erased and what still has its id. It cannot be restored.
        If a retry after a lost response gets `user_group_not_found`, the method raises the error of the lost
        attempt.
        """
        raise NotImplementedError

    @operation("POST", "/deleted-user-groups/{team_id}/restore", returns="user_group", retry={"user_group_not_found": "unknown"})
    def _restore_deleted_user_group(self, team_id: int, *, deadline_seconds: Optional[float] = None) -> AdminUserGroup:
        """Restores a deleted user group. The user group gets its previous state, and its token works again. Tokens
        that were superseded before the deletion stay unknown. Fails with `already_exists` if another user
        group has its id. If a retry after a lost response gets `user_group_not_found`, the method raises the
        error of the lost attempt.
        """
        raise NotImplementedError

    @paged("/jobs", items="jobs")
    def list_jobs(self, search: PageLimit = {}, *, deadline_seconds: Optional[float] = None) -> Job:
        """Lists the jobs. The newest first. Finished jobs are kept for 30 days."""
        raise NotImplementedError

    @operation("POST", "/jobs", returns="job", status=201, retry="never")
    def create_job(self, fields: JobFields, *, deadline_seconds: Optional[float] = None) -> Job:
        """Changes many user groups in the background. Suspends, resumes, rotates, deletes or promotes each user
        group of a selection, as the operation on one does. The search criteria are evaluated while the job
        runs; user groups that are created after it are left out. The jobs of a workspace run one after the
        other. Revoking the API token cancels its jobs. `promote` requires an API token of `Customer`. If a
        response is lost, list the jobs. Never retried if an attempt may have taken effect, which includes a
        503.
        """
        raise NotImplementedError

    @operation("GET", "/jobs/{id}", returns="job")
    def get_job(self, id: int, *, deadline_seconds: Optional[float] = None) -> Job:
        """Shows a job and its progress."""
        raise NotImplementedError

    @operation("POST", "/jobs/{id}/cancel", returns="job")
    def cancel_job(self, id: int, *, deadline_seconds: Optional[float] = None) -> Job:
        """Cancels a job. User groups that are in flight are still changed, at most eight. What was done stays. A
        finished job stays as it is.
        """
        raise NotImplementedError

    @paged("/jobs/{id}/results", items="results")
    def list_job_results(
        self,
        id: int,
        search: JobResultSearch = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> JobResult:
        """Lists what a job did to each user group. In the order in which the job changes them. A rotation shows no
        token.
        """
        raise NotImplementedError

    @paged("/isolation-findings", items="findings")
    def list_isolation_findings(
        self,
        search: FindingSearch = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> IsolationFinding:
        """Lists user groups that share a data source or are mapped to none. Returns findings that meet all
        conditions. Shared data sources come first.
        """
        raise NotImplementedError

    @operation("POST", "/isolation-findings/accept", returns="finding")
    def accept_isolation_finding(
        self,
        fields: AcceptanceFields,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> IsolationFinding:
        """Accepts an isolation finding. Its status is `accepted` until other user groups are affected. An
        acceptance of more than 200 user groups holds for any number above 200. Accepted findings do not count
        in the overview. A repeated request with the same reason changes nothing.
        """
        raise NotImplementedError

    @operation("POST", "/isolation-findings/reopen", returns="reopened", retry={"not_found": "succeeded"})
    def reopen_isolation_finding(
        self,
        fields: FindingName,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> Literal[True]:
        """Reopens an accepted isolation finding. Also one that no longer exists. If a retry after a lost response
        gets `not_found`, the operation succeeded.
        """
        raise NotImplementedError

    @paged("/promotions/candidates", items="user_groups")
    def list_promotion_candidates(
        self,
        search: CandidateSearch = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> PromotionCandidate:
        """Lists user groups of Testing that can be promoted. Ordered by team id. Requires an API token of
        `Customer`. As in a search, a page may have few entries, or none, and a next page.
        """
        raise NotImplementedError

    @operation("POST", "/promotions", returns="results")
    def promote_user_groups(
        self,
        fields: PromotionFields,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> List[PromotionResult]:
        """Promotes user groups from Testing to Customer. Copies name, mapping and properties. A user group that is
        new in `Customer` gets its own token there. Suspensions are not copied: a new user group is active, and
        an existing one keeps its suspension. An error of one user group does not stop the others. Requires an
        API token of `Customer`. A repeated request reports user groups that an earlier one promoted as
        `unchanged`.
        """
        raise NotImplementedError

    @paged("/usage", items="usage")
    def list_usage(self, search: UsageSearch = {}, *, deadline_seconds: Optional[float] = None) -> Usage:
        """Lists who looked in a month. By user group (by team id), by known viewer (by team id and viewer id), by
        resource (by name), or by day until today, with the total of the month. Only what looked at least once
        is listed, except days. Days and months are in UTC. A look shows up within about a minute.
        """
        raise NotImplementedError

    @operation("DELETE", "/usage", returns="deleted")
    def erase_usage(self, fields: ErasureOfViewer, *, deadline_seconds: Optional[float] = None) -> int:
        """Erases what is recorded of a viewer. Deletes all days of the viewer, of all months. End the sessions of
        the viewer first, and erase again after two minutes: until then, looks that are not written yet are
        recorded.
        """
        raise NotImplementedError

    @operation("POST", "/leaked-tokens", retry={"unauthenticated": "unknown"})
    def report_leaked_token(
        self,
        fields: LeakedTokenFields,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> LeakedToken:
        """Returns the owner of a leaked token and whether it works. With `rotate`, stops it at once. A repeated
        request does nothing more to a token that an earlier one stopped, and reports the current state:
        `works` and `rotated` may be false although the earlier request stopped the token. If a retry after a
        lost response gets `unauthenticated`, the method raises the error of the lost attempt.
        """
        raise NotImplementedError

    @operation("GET", "/api-tokens", returns="api_tokens")
    def list_api_tokens(self, *, deadline_seconds: Optional[float] = None) -> List[ApiToken]:
        """Lists the API tokens of this workspace and environment. Also revoked ones."""
        raise NotImplementedError

    @operation("POST", "/api-tokens", status=201, retry="never")
    def create_api_token(self, fields: ApiTokenFields, *, deadline_seconds: Optional[float] = None) -> NewApiToken:
        """Creates an API token for this workspace and environment. The token is shown only once. If a response is
        lost, list the API tokens and revoke the unknown one. Never retried if an attempt may have taken
        effect, which includes a 503.
        """
        raise NotImplementedError

    @operation("POST", "/api-tokens/{id}/rotate", status=201, retry="never")
    def rotate_api_token(
        self,
        id: int,
        fields: ApiTokenRotation = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> RotatedApiToken:
        """Replaces an API token by a new one; both work during an overlap. The new API token has the same name,
        scopes and lifetime, and is shown only once. The old one stops after `overlap_seconds`, or earlier if
        it expires earlier. Fails with `not_found` also if the API token has expired or is revoked, and with
        `token_superseded` if it was already rotated. If a response is lost, rotate the API token that
        `replaced_by` of the old one names. Never retried if an attempt may have taken effect, which includes a
        503.
        """
        raise NotImplementedError

    @operation("POST", "/api-tokens/{id}/revoke", returns="api_token", retry={"unauthenticated": "unknown"})
    def revoke_api_token(self, id: int, *, deadline_seconds: Optional[float] = None) -> ApiToken:
        """Revokes an API token permanently. Takes effect everywhere within about a second. A repeated request
        changes nothing, not even `revoked_at`. If a retry after a lost response gets `unauthenticated`, the
        method raises the error of the lost attempt.
        """
        raise NotImplementedError

    @operation("GET", "/workspaces", returns="workspaces")
    def list_workspaces(self, *, deadline_seconds: Optional[float] = None) -> List[Workspace]:
        """Shows the workspace of this API token. An API token sees only its own workspace."""
        raise NotImplementedError

    @operation("POST", "/workspaces", status=201, retry={"already_exists": "unknown"})
    def create_workspace(self, fields: WorkspaceFields, *, deadline_seconds: Optional[float] = None) -> NewWorkspace:
        """Creates a workspace and its first API token. The API token has the scope `admin` and the environment of
        the API token that created it, and is shown only once. If it is lost, `ugs api-token create` creates
        another one. If a retry after a lost response gets `already_exists`, the method raises the error of the
        lost attempt.
        """
        raise NotImplementedError

    @operation("GET", "/console-sessions", returns="console_sessions")
    def list_console_sessions(self, *, deadline_seconds: Optional[float] = None) -> List[ConsoleSession]:
        """Lists who is signed in to the console. The newest first."""
        raise NotImplementedError

    @operation("POST", "/console-sessions/{id}/end", returns="ended", retry={"not_found": "succeeded"})
    def end_console_session(self, id: int, *, deadline_seconds: Optional[float] = None) -> Literal[True]:
        """Ends a console session. The browser is signed out with its next request. The person may sign in again.
        If a retry after a lost response gets `not_found`, the operation succeeded.
        """
        raise NotImplementedError

    @paged("/audit-events", items="audit_events")
    def list_audit_events(self, search: AuditSearch = {}, *, deadline_seconds: Optional[float] = None) -> AuditEvent:
        """Lists changes and who made them. Returns events that meet all conditions, the newest first. A page may
        have fewer entries than `limit`, or none, and still have a next page; continue with `next_cursor`.
        """
        raise NotImplementedError

    @operation("GET", "/schemas", returns="schemas")
    def list_schemas(self, *, deadline_seconds: Optional[float] = None) -> List[RegisteredSchema]:
        """Lists the schemas."""
        raise NotImplementedError

    @operation("POST", "/schemas", returns="schema", status=201, retry={"already_exists": "unknown"})
    def _create_schema(self, fields: SchemaFields, *, deadline_seconds: Optional[float] = None) -> RegisteredSchema:
        """Registers a schema. Fails with `in_use` if user groups are mapped to a schema whose id is the same text.
        If a retry after a lost response gets `already_exists`, the method raises the error of the lost
        attempt.
        """
        raise NotImplementedError

    @operation("DELETE", "/schemas/{id}", returns="deleted", retry={"not_found": "succeeded"})
    def delete_schema(self, id: int, *, deadline_seconds: Optional[float] = None) -> None:
        """Deletes a schema that has no data sources. If a retry after a lost response gets `not_found`, the
        operation succeeded.
        """
        raise NotImplementedError

    @paged("/data-sources", items="data_sources")
    def list_data_sources(
        self,
        search: DataSourceSearch = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> RegisteredDataSource:
        """Lists the data sources. Ordered by id."""
        raise NotImplementedError

    @operation("POST", "/data-sources", returns="data_source", status=201, retry={"already_exists": "unknown"})
    def _create_data_source(
        self,
        fields: DataSourceFields,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> RegisteredDataSource:
        """Registers a data source. Fails with `in_use` if user groups are mapped to a data source whose id is the
        same text, and with `validation_failed` if the schema does not exist. If a retry after a lost response
        gets `already_exists`, the method raises the error of the lost attempt.
        """
        raise NotImplementedError

    @operation("DELETE", "/data-sources/{id}", returns="deleted", retry={"not_found": "succeeded"})
    def delete_data_source(self, id: int, *, deadline_seconds: Optional[float] = None) -> None:
        """Deletes a data source that no user group is mapped to. If a retry after a lost response gets
        `not_found`, the operation succeeded.
        """
        raise NotImplementedError

    @operation("GET", "/webhook-endpoints", returns="webhook_endpoints")
    def list_webhook_endpoints(self, *, deadline_seconds: Optional[float] = None) -> List[WebhookEndpoint]:
        """Lists the webhook endpoints. Ordered by id, with the last success and the number of events that wait for
        delivery.
        """
        raise NotImplementedError

    @operation("POST", "/webhook-endpoints", status=201, retry="never")
    def create_webhook_endpoint(
        self,
        fields: WebhookEndpointFields,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> WebhookEndpointSecret:
        """Creates a webhook endpoint. It receives events from now on. The secret verifies signatures and is shown
        only once. If a response is lost, list the webhook endpoints and delete the unknown one.
        `UGS_MAX_WEBHOOK_ENDPOINTS` limits their number. Never retried if an attempt may have taken effect,
        which includes a 503.
        """
        raise NotImplementedError

    @operation("GET", "/webhook-endpoints/{id}", returns="webhook_endpoint")
    def get_webhook_endpoint(self, id: int, *, deadline_seconds: Optional[float] = None) -> WebhookEndpoint:
        """Gets a webhook endpoint."""
        raise NotImplementedError

    @operation("PATCH", "/webhook-endpoints/{id}", returns="webhook_endpoint")
    def update_webhook_endpoint(
        self,
        id: int,
        fields: WebhookEndpointChange,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> WebhookEndpoint:
        """Changes a webhook endpoint, also to pause or resume it. Omitted fields keep their values. An endpoint
        that becomes active is attempted at once. A repeated request overwrites changes that others made in
        between.
        """
        raise NotImplementedError

    @operation("DELETE", "/webhook-endpoints/{id}", returns="deleted", retry={"not_found": "succeeded"})
    def delete_webhook_endpoint(self, id: int, *, deadline_seconds: Optional[float] = None) -> None:
        """Deletes a webhook endpoint with its deliveries. If a retry after a lost response gets `not_found`, the
        operation succeeded.
        """
        raise NotImplementedError

    @operation("POST", "/webhook-endpoints/{id}/rotate-secret", retry="never")
    def rotate_webhook_secret(
        self,
        id: int,
        fields: WebhookSecretRotation = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> WebhookEndpointSecret:
        """Replaces the secret of a webhook endpoint; both sign during an overlap. The new secret is shown only
        once. A rotation does not end the overlaps of earlier ones. At most four replaced secrets sign too;
        beyond them, only a rotation without an overlap is possible. If a response is lost, rotate again and
        give the receiver the new secret at once. Never retried if an attempt may have taken effect, which
        includes a 503.
        """
        raise NotImplementedError

    @operation("POST", "/webhook-endpoints/{id}/test", retry="never")
    def test_webhook_endpoint(self, id: int, *, deadline_seconds: Optional[float] = None) -> WebhookTest:
        """Sends a test event to a webhook endpoint. Sends `webhook_endpoint.test`, whatever the state and the
        event types of the endpoint, and waits up to 10 seconds for the response. It is no delivery: it is not
        repeated and does not change `health`. Never retried if an attempt may have taken effect, which
        includes a 503.
        """
        raise NotImplementedError

    @paged("/webhook-endpoints/{id}/deliveries", items="deliveries")
    def list_webhook_deliveries(
        self,
        id: int,
        search: WebhookDeliverySearch = {},
        *,
        deadline_seconds: Optional[float] = None,
    ) -> WebhookDelivery:
        """Lists the deliveries to a webhook endpoint. The newest first, for the retention of events."""
        raise NotImplementedError

    @operation("GET", "/webhook-endpoints/{id}/deliveries/{delivery_id}", returns="delivery")
    def get_webhook_delivery(
        self,
        id: int,
        delivery_id: int,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> WebhookDeliveryDetails:
        """Gets a delivery with its last request and the head of the response."""
        raise NotImplementedError

    @operation("POST", "/webhook-endpoints/{id}/deliveries/{delivery_id}/redeliver", returns="redelivered")
    def redeliver_webhook(self, id: int, delivery_id: int, *, deadline_seconds: Optional[float] = None) -> int:
        """Sends an event again. Also if it was delivered. After a repeated request, the receiver may get it more
        often.
        """
        raise NotImplementedError

    @operation("POST", "/webhook-endpoints/{id}/redeliver", returns="redelivered")
    def redeliver_webhooks(
        self,
        id: int,
        fields: WebhookRedelivery,
        *,
        deadline_seconds: Optional[float] = None,
    ) -> int:
        """Sends all events of a time range again. Also delivered ones. Returns how many, without events that wait
        for their first attempt. A repeated request does not count events that an earlier one sends again.
        """
        raise NotImplementedError

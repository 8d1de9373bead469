"""Client of the User Group Service, for backends."""

from ._version import __version__
from .async_client import AsyncUserGroupClient
from .client import UserGroupClient
from .errors import (
    ErrorCode,
    FieldFault,
    ServiceError,
    TransportError,
    TransportErrorCode,
    UserGroupServiceError,
)
from .user_group import (
    KEEP,
    Environment,
    GetOrCreateResult,
    IntrospectedUserGroup,
    Keep,
    MappedDataSource,
    Narrowing,
    RotatedUserGroup,
    Schema,
    UpdatedUserGroup,
    UserGroup,
    Viewer,
    ViewerSession,
)

__all__ = [
    "KEEP",
    "AsyncUserGroupClient",
    "Environment",
    "ErrorCode",
    "FieldFault",
    "GetOrCreateResult",
    "IntrospectedUserGroup",
    "Keep",
    "MappedDataSource",
    "Narrowing",
    "RotatedUserGroup",
    "Schema",
    "ServiceError",
    "TransportError",
    "TransportErrorCode",
    "UpdatedUserGroup",
    "UserGroup",
    "UserGroupClient",
    "UserGroupServiceError",
    "Viewer",
    "ViewerSession",
    "__version__",
]

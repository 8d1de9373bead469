"""Programs that the type checker accepts or, in the lines with `type: ignore`, refuses. Nothing runs them."""

from typing import List, Optional, TypedDict

from user_group_service import (
    AsyncUserGroupClient,
    AsyncUserGroupManagement,
    ServiceError,
    UserGroupClient,
    UserGroupManagement,
)

client = UserGroupClient("http://localhost", "uga_testing_x")


class Properties(TypedDict):
    region: str


properties: Properties = {"region": "EU"}
client.update("a", properties=properties)


def token_of(user_group_id: str) -> str:
    try:
        result = client.get_or_create(user_group_id, name="A", mapping=None, properties={"a": [1, None]})
        return result.user_group.token
    except ServiceError as error:
        if error.code == "token_superseded":
            return error.request_id
        if error.code == "token_superceded":  # type: ignore[comparison-overlap]
            return ""
        raise


async def environment_of(asyncio_client: AsyncUserGroupClient) -> str:
    return (await asyncio_client.rotate("a", grace_period_seconds=60)).environment


class Profile(TypedDict):
    role: str


profile: Profile = {"role": "manager"}
session = client.create_session(
    "a",
    {"id": "u-7", "properties": profile, "time_zone": "Europe/Berlin"},
    narrow={"properties": {"regions": ["EU", 7, None]}, "schemas": ["sales"]},
    claims=profile,
)
lifetime: int = session.expires_in_seconds
client.end_sessions("a", "u-7")

client.create_session("a", {"name": "Ada"})  # type: ignore[typeddict-item]
client.create_session("a", {"id": "u-7", "timeZone": "UTC"})  # type: ignore[typeddict-item]
client.update("a", mapping={"40": 213})  # type: ignore[dict-item]
client.update("a", colour="red")  # type: ignore[call-arg]
client.update("a", properties=["EU"])  # type: ignore[arg-type]
client.introspect("a").name  # type: ignore[union-attr]

management = UserGroupManagement("http://localhost", "uga_testing_x")
revision: int = management.update_user_group(7, {"name": "A"}, if_revision=4).revision
names: List[str] = [group.name for group in management.search_user_groups({"property_value": 5, "limit": 5})]
token: Optional[str] = management.rotate_user_group_token(7, {"grace_period_seconds": 60})
leaked = management.report_leaked_token({"token": "a"})
if leaked.kind == "user_group_token":
    revision = leaked.user_group.revision
leaked.user_group  # type: ignore[union-attr]
management.search_user_groups({"nam": "A"})  # type: ignore[typeddict-item]
management.get_user_group("7")  # type: ignore[arg-type]
management.create_api_token({"name": "a", "scopes": ["root"]})  # type: ignore[list-item]


async def names_of(asyncio_client: AsyncUserGroupManagement) -> List[str]:
    await asyncio_client.suspend_user_group(7, if_revision=(await asyncio_client.get_user_group(7)).revision)
    return [group.name async for group in asyncio_client.search_user_groups()]

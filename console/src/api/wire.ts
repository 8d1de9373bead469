import type { AdminWire } from '../../../client/src/wire.ts'

/** JSON of the service's responses, by the names of their schemas in the OpenAPI document. */
export type Wire = AdminWire

export type UserGroup = Wire['AdminUserGroup']
/** A user group of a list. The owner of a token has no health. */
export type ListedUserGroup = UserGroup & Partial<Pick<Wire['ListedUserGroup'], 'health'>>
export type Health = Wire['ListedUserGroup']['health']
export type UserGroupView = Wire['UserGroupViewResponse']
export type Version = UserGroupView['versions'][number]
export type Mapping = UserGroup['mapping']
export type Difference = Wire['DiffResponse']['differences'][number]
export type EnvironmentTag = UserGroup['api_environment_tag']
type Leaked = Wire['LeakedTokenResponse']
type OfUserGroup = Extract<Leaked, { kind: 'user_group_token' }>
type OfSession = Extract<Leaked, { kind: 'viewer_session' }>
type OfApiToken = Extract<Leaked, { kind: 'api_token' }>
/** The owner of a token. Its `kind` decides which members it has. */
export type LeakedToken = Pick<Leaked, 'kind' | 'works'> &
  Partial<Omit<OfUserGroup, 'kind' | 'works'>> &
  Partial<Omit<OfSession, 'kind' | 'works'>> &
  Partial<Omit<OfApiToken, 'kind' | 'works'>>

import type { components } from '../../../client/src/wire.ts'

/** Schemas of the service's requests and responses, by their names in the OpenAPI document. */
export type Wire = components['schemas']

export type UserGroup = Wire['ManagedUserGroup']
/** A user group of a list. The owner of a token has no health. */
export type ListedUserGroup = UserGroup & Partial<Pick<Wire['ListedUserGroup'], 'health'>>
export type Health = Wire['ListedUserGroup']['health']
export type UserGroupView = Wire['ViewResponse']
export type Version = UserGroupView['versions'][number]
export type Mapping = UserGroup['mapping']
export type Difference = Wire['DiffResponse']['differences'][number]
export type EnvironmentTag = UserGroup['api_environment_tag']

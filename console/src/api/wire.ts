import type { components } from '../../../client/src/wire.ts'

/** Schemas of the service's requests and responses, by their names in the OpenAPI document. */
export type Wire = components['schemas']

export type UserGroup = Wire['ManagedUserGroup']
export type UserGroupView = Wire['ViewResponse']
export type Version = UserGroupView['versions'][number]
export type Mapping = UserGroup['mapping']
export type Difference = Wire['DiffResponse']['differences'][number]
export type EnvironmentTag = UserGroup['api_environment_tag']

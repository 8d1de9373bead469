import type { components } from '../../../client/src/wire.ts'

/** The answers of the service and the bodies that it takes, by their names in the OpenAPI document. */
export type Wire = components['schemas']

export type UserGroup = Wire['ManagedUserGroup']
export type UserGroupView = Wire['ViewAnswer']
export type Version = UserGroupView['versions'][number]
export type Mapping = UserGroup['mapping']
export type Difference = Wire['DiffAnswer']['differences'][number]
export type EnvironmentTag = UserGroup['api_environment_tag']

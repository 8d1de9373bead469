export type { Clock } from './clock.ts'
export {
  ServiceError,
  TransportError,
  type ErrorCode,
  type FieldFault,
  type TransportErrorCode,
} from './errors.ts'
export {
  UserGroupClient,
  type CallOptions,
  type RotationFields,
  type RotationOptions,
  type UserGroupClientOptions,
} from './user-group-client.ts'
export type {
  DataSource,
  Environment,
  GetOrCreateResult,
  IntrospectedUserGroup,
  Json,
  JsonObject,
  Mapping,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroup,
  UserGroupFields,
} from './user-group.ts'

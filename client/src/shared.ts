export type { Clock } from './clock.ts'
export {
  ServiceError,
  TransportError,
  UserGroupServiceError,
  type ErrorCode,
  type FieldFault,
  type TransportErrorCode,
} from './errors.ts'
export type * from './management-api.ts'
export type { Agent, ConnectionOptions, OutgoingRequest, RequestEvent, RequestOptions } from './options.ts'
export type { Page, Paged } from './paged.ts'
export type {
  IntrospectionOptions,
  RotationFields,
  RotationOptions,
  SessionOptions,
  UserGroupClientOptions,
} from './user-group-client.ts'
export type { ImportOptions, ImportResult } from './user-group-import.ts'
export type {
  DataSource,
  Environment,
  GetOrCreateResult,
  IntrospectedUserGroup,
  IntrospectedViewer,
  Json,
  JsonInterface,
  JsonObject,
  MappedDataSource,
  Mapping,
  Narrowing,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroup,
  UserGroupFields,
  Viewer,
  ViewerSession,
} from './user-group.ts'
export type { UserGroupContent, VersionRange } from './user-group-management.ts'

export type { Clock } from './clock.ts'
export {
  ServiceError,
  TransportError,
  type ErrorCode,
  type FieldFault,
  type TransportErrorCode,
} from './errors.ts'
export type {
  ApiToken,
  AuditAction,
  AuditEvent,
  DeletedUserGroup,
  Difference,
  IsolationFinding,
  LeakedToken,
  AdminUserGroup,
  NewApiToken,
  NewWorkspace,
  PromotionResult,
  RegisteredDataSource,
  RegisteredSchema,
  RotatedApiToken,
  Scope,
  UserGroupContent,
  UserGroupVersion,
  UserGroupView,
  Workspace,
} from './admin-types.ts'
export type {
  ApiTokenFields,
  ApiTokenRotation,
  AuditSearch,
  ChangeOptions,
  DataSourceFields,
  DataSourceSearch,
  LeakedTokenFields,
  PageLimit,
  PromotionFields,
  SchemaFields,
  TokenRotation,
  UserGroupChange,
  UserGroupSearch,
  VersionRange,
  WorkspaceFields,
} from './management-fields.ts'
export type { RequestOptions, ConnectionOptions } from './options.ts'
export type { Page, Paged } from './paged.ts'
export {
  UserGroupClient,
  type RotationFields,
  type RotationOptions,
  type UserGroupClientOptions,
} from './user-group-client.ts'
export type { ImportOptions, ImportResult } from './user-group-import.ts'
export { UserGroupManagement } from './user-group-management.ts'
export type {
  DataSource,
  Environment,
  GetOrCreateResult,
  IntrospectedUserGroup,
  Json,
  JsonInterface,
  JsonObject,
  MappedDataSource,
  Mapping,
  RotatedUserGroup,
  UpdatedUserGroup,
  UserGroup,
  UserGroupFields,
} from './user-group.ts'

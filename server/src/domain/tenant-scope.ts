import type { Environment } from './environment.ts'

/** The workspace and environment to which a request is confined. Rows of any other look absent. */
export interface TenantScope {
  readonly workspaceId: number
  readonly environment: Environment
}

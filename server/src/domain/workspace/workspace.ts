/** A tenant of the service: one product or team, with its own user groups and API tokens. */
export interface Workspace {
  readonly id: number
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/** The workspace that the first migration creates in every store. */
export const defaultWorkspaceName = 'default'

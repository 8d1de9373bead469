/** What separates the user groups and API tokens of one product or team from another's within one service. */
export interface Workspace {
  readonly id: number
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/** The workspace that every store has from its first migration on. */
export const defaultWorkspaceName = 'default'

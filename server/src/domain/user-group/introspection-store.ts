/** The last introspection of each user group. */
export interface IntrospectionStore {
  /** Stores the latest time of each user group; an earlier time than the stored one is ignored. */
  record(introspections: readonly Introspection[]): Promise<void>

  /** Returns milliseconds since the Unix epoch, or null if there was none. */
  findLast(workspaceId: number, teamId: number): Promise<number | null>
}

export interface Introspection {
  readonly workspaceId: number
  readonly teamId: number
  readonly introspectedAt: number
}

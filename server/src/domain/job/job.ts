import type { Author } from '../audit/audit-event.ts'
import type { Caller } from '../caller.ts'
import type { Environment } from '../environment.ts'
import type { FaultCode } from '../fault.ts'
import type { HealthProblem, UserGroupSearch } from '../user-group/user-group-search-store.ts'
import type { Total } from '../util/page.ts'

export const jobActions = ['suspend', 'resume', 'rotate', 'delete', 'promote'] as const

/** The change that a job makes to each of its user groups. */
export type JobAction = (typeof jobActions)[number]

/** The user groups of a job: those that match a search while the job runs, or those with these team ids. */
export type JobSelection =
  | { readonly search: UserGroupSearch; readonly health?: HealthProblem | undefined }
  | { readonly teamIds: readonly number[] }

/** Maximum number of team ids of a job. */
export const maxJobTeamIds = 1000
/** Maximum number of unfinished jobs of a workspace. */
export const maxUnfinishedJobs = 20

/** One change of many user groups. */
export interface Job {
  readonly id: number
  readonly workspaceId: number
  readonly environment: Environment
  readonly action: JobAction
  /** Zero for other actions than `rotate`. */
  readonly gracePeriodSeconds: number
  readonly selection: JobSelection
  readonly author: Author
  /** The number of user groups when the job was created. */
  readonly total: Total
  readonly createdAt: number
  readonly startedAt: number | null
  readonly canceledAt: number | null
  readonly finishedAt: number | null
  /** User groups that are being changed. */
  readonly planned: readonly JobRow[]
  /** Place in the selection after those that are planned; null at the beginning. */
  readonly position: string | null
  /** Numbers of results by outcome. */
  readonly done: number
  readonly unchanged: number
  readonly failed: number
}

export const jobStates = ['queued', 'running', 'canceling', 'canceled', 'finished'] as const

export type JobState = (typeof jobStates)[number]

export function stateOf({
  startedAt,
  canceledAt,
  finishedAt,
}: Pick<Job, 'startedAt' | 'canceledAt' | 'finishedAt'>): JobState {
  if (finishedAt !== null) return canceledAt === null ? 'finished' : 'canceled'
  if (canceledAt !== null) return 'canceling'
  return startedAt === null ? 'queued' : 'running'
}

export const jobOutcomes = ['done', 'unchanged', 'failed'] as const

export type JobOutcome = (typeof jobOutcomes)[number]

/** A user group of a job. */
export interface JobRow {
  readonly teamId: number
  /** Null if no user group had the team id. */
  readonly providedId: string | null
}

/** The result of one user group. */
export interface JobResult extends JobRow {
  readonly outcome: JobOutcome
  /** The reason why it failed. */
  readonly error: { readonly code: FaultCode; readonly message: string } | null
}

/** The request id of the audit events of a job. It tells after an interruption which user groups are done. */
export function requestIdOf({ id }: Pick<Job, 'id'>): string {
  return `job-${id}`
}

/** Returns the caller as whom a job changes user groups. */
export function callerOf(job: Job): Caller {
  const { workspaceId, environment, author } = job
  return { workspaceId, environment, author, requestId: requestIdOf(job) }
}

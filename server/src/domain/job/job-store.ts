import type { Actor } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Job, JobOutcome, JobResult, JobRow } from './job.ts'

/**
 * Jobs and their results. A process works on a job while it holds a claim, which ends by itself if the process does. Only the oldest
 * unfinished job of a workspace is due.
 */
export interface JobStore {
  /** Creates a job. Returns null if the workspace has `maxUnfinished` unfinished jobs. */
  create(job: NewJob): Promise<Job | null>

  find(scope: TenantScope, id: number): Promise<Job | null>

  /** Returns jobs, newest first. */
  list(query: ListJobs): Promise<Job[]>

  /** Returns results, in order of their numbers. */
  listResults(query: ListJobResults): Promise<NumberedResult[]>

  /** Returns the number of unfinished jobs of an environment. */
  countUnfinished(scope: TenantScope): Promise<number>

  /** Requests the end of a job, or ends one that has not started, and returns it. A finished job stays as it is. Returns null if there is no such job. */
  cancel(command: CancelJob): Promise<Job | null>

  /** Returns the ids of jobs that a holder can work on, the one that waits longest first. */
  due(query: DueJobs): Promise<number[]>

  /** Claims a job, or extends the claim. Returns null if the job is finished, or another holder has it. */
  claim(claim: JobClaim): Promise<ClaimedJob | null>

  /** Records results, and plans the next user groups. Returns false and changes nothing if the holder has lost the claim. */
  record(command: RecordJobResults): Promise<boolean>

  /** Ends the claims of a holder. */
  release(holder: string): Promise<void>

  /** Deletes jobs that finished at this time or earlier, in batches, and returns how many rows. */
  deleteFinished(before: number): Promise<number>
}

export interface NewJob
  extends
    TenantScope,
    Actor,
    Pick<Job, 'action' | 'gracePeriodSeconds' | 'selection' | 'total' | 'createdAt'> {
  readonly maxUnfinished: number
}

interface ListJobs extends TenantScope {
  /** Returns only lower ids; null starts with the newest. */
  readonly beforeId: number | null
  readonly limit: number
}

interface ListJobResults extends TenantScope {
  readonly jobId: number
  readonly outcome: JobOutcome | null
  /** Returns only higher numbers; null starts at the beginning. */
  readonly afterNumber: number | null
  readonly limit: number
}

export interface NumberedResult extends JobResult {
  /** Place among the results of the job, from 1. */
  readonly number: number
}

interface CancelJob extends TenantScope, Actor {
  readonly id: number
  readonly now: number
}

interface DueJobs {
  readonly holder: string
  readonly now: number
  readonly limit: number
  /** Null for all workspaces. */
  readonly workspaceId: number | null
}

interface JobClaim {
  readonly id: number
  /** A name that no other process has. */
  readonly holder: string
  readonly now: number
  readonly durationMs: number
}

interface ClaimedJob {
  readonly job: Job
  /** True if another holder may have worked on the job since the last claim of this one. */
  readonly isTakenOver: boolean
  /** True if the API token that created the job is revoked. */
  readonly isAuthorRevoked: boolean
}

export interface RecordJobResults {
  readonly id: number
  readonly holder: string
  readonly now: number
  readonly results: readonly JobResult[]
  /** The next user groups to change. */
  readonly planned: readonly JobRow[]
  /** Place in the selection after them. */
  readonly position: string | null
  /** Null if the job goes on. */
  readonly end: 'finished' | 'canceled' | null
}

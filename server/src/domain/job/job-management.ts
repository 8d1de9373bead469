import type { Caller } from '../caller.ts'
import { Fault } from '../fault.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Promotion } from '../user-group/promotion.ts'
import type { HealthSearch } from '../user-group/user-group-health.ts'
import type { Clock } from '../util/clock.ts'
import { maxUnfinishedJobs, type Job, type JobOutcome } from './job.ts'
import type { NewJob, NumberedResult } from './job-store.ts'

export interface JobManagementDependencies {
  readonly store: Pick<Store, 'jobs'>
  readonly healthSearch: HealthSearch
  readonly promotion: Promotion
  readonly clock: Pick<Clock, 'now'>
}

/** The jobs of a workspace and environment. All methods throw Fault `unavailable`. */
export class JobManagement {
  readonly #parts: JobManagementDependencies

  constructor(parts: JobManagementDependencies) {
    this.#parts = parts
  }

  /**
   * Creates a job. `JobRunner` works on it, in this process or in another one.
   * @throws Fault `forbidden` (a promotion by a caller of another environment than `Customer`), `limit_reached`
   */
  async create(
    caller: Caller,
    job: Pick<NewJob, 'action' | 'gracePeriodSeconds' | 'selection'>,
  ): Promise<Job> {
    const { store, healthSearch, promotion, clock } = this.#parts
    const { selection } = job
    const searched = job.action === 'promote' ? promotion.sourceOf(caller) : caller
    const total =
      'teamIds' in selection
        ? { count: selection.teamIds.length, isExact: true }
        : await healthSearch.count(searched, selection.search, selection.health)
    const created = await store.jobs.create({
      ...caller,
      ...job,
      total,
      createdAt: clock.now(),
      maxUnfinished: maxUnfinishedJobs,
    })
    if (created !== null) return created
    throw new Fault(
      'limit_reached',
      `This workspace has ${maxUnfinishedJobs} unfinished jobs. Wait until one has finished, or cancel one`,
    )
  }

  /** @throws Fault `not_found` */
  async find(scope: TenantScope, id: number): Promise<Job> {
    return (await this.#parts.store.jobs.find(scope, id)) ?? notFound()
  }

  /** Lists jobs, newest first. */
  list(
    scope: TenantScope,
    page: { readonly beforeId: number | null; readonly limit: number },
  ): Promise<Job[]> {
    return this.#parts.store.jobs.list({ ...scope, ...page })
  }

  /** Lists the results of a job. @throws Fault `not_found` */
  async listResults(
    scope: TenantScope,
    jobId: number,
    page: {
      readonly outcome: JobOutcome | null
      readonly afterNumber: number | null
      readonly limit: number
    },
  ): Promise<NumberedResult[]> {
    await this.find(scope, jobId)
    return this.#parts.store.jobs.listResults({ ...scope, jobId, ...page })
  }

  /** Ends a job after the user groups that are in flight. A finished job stays as it is. @throws Fault `not_found` */
  async cancel(caller: Caller, id: number): Promise<Job> {
    const { store, clock } = this.#parts
    return (await store.jobs.cancel({ ...caller, id, now: clock.now() })) ?? notFound()
  }
}

function notFound(): never {
  throw new Fault('not_found', 'No job with this id exists in this environment')
}

import { firstEventId } from '../audit/audit-event.ts'
import { Fault } from '../fault.ts'
import type { Store } from '../store.ts'
import type { Promotion } from '../user-group/promotion.ts'
import type { HealthSearch } from '../user-group/user-group-health.ts'
import type { UserGroupManagement } from '../user-group/user-group-management.ts'
import type { UserGroupService } from '../user-group/user-group-service.ts'
import type { Clock } from '../util/clock.ts'
import { callerOf, requestIdOf, stateOf, type Job, type JobResult, type JobRow } from './job.ts'

/** Time after which another process takes over from one that has stopped, in milliseconds. */
const claimMs = 30_000
/** Number of user groups that a job changes at once, before it is the turn of the next workspace. Other requests wait briefly for them. */
const batchSize = 8
/** Number of user groups that one search reads. */
const pageSize = 100
/** Maximum number of jobs that take turns in one step. */
const maxJobs = 64
/** Maximum difference between the clocks of two processes, in milliseconds. */
const maxClockSkewMs = 60 * 60 * 1000
/** Maximum number of audit events of a user group to look through for one of the job. */
const maxOwnEvents = 1000

interface Row extends JobRow {
  /** Place in the selection after this row. */
  readonly position: string
}

/** Rows that were read and not planned yet. */
interface Rows {
  readonly rows: readonly Row[]
  /** Place in the selection after these rows; null at the end. */
  readonly end: string | null
}

const none: Rows = { rows: [], end: null }

export interface JobRunnerDependencies {
  readonly store: Pick<Store, 'audit' | 'jobs' | 'userGroups'>
  readonly userGroups: UserGroupService
  readonly management: UserGroupManagement
  readonly healthSearch: HealthSearch
  readonly promotion: Promotion
  readonly clock: Clock
  /** A name that no other process has. */
  readonly holder: string
}

/**
 * Works on jobs. Workspaces take turns, a batch of user groups each:
 *
 * 1. The batch is planned: its user groups are recorded with the results of the previous batch.
 * 2. Each user group is changed. The change and its audit event, which names the job, are one transaction.
 * 3. The results are recorded. After an interruption before that, the audit events tell which user groups of the batch are done, so that
 *    none is changed twice.
 */
export class JobRunner {
  readonly #parts: JobRunnerDependencies
  /** By job, for those whose batch this runner has planned, and not begun. */
  readonly #rows = new Map<number, Rows>()

  constructor(parts: JobRunnerDependencies) {
    this.#parts = parts
  }

  /**
   * Changes a batch of each job that is due, and returns whether there was one.
   * @param workspaceId null for the jobs of all workspaces
   * @param onFailure called with the error of each job that fails while others go on
   * @throws Fault `unavailable` if all fail
   */
  async step(
    workspaceId: number | null = null,
    onFailure: (error: unknown) => void = () => undefined,
  ): Promise<boolean> {
    const { store, holder, clock } = this.#parts
    const ids = await store.jobs.due({ holder, now: clock.now(), limit: maxJobs, workspaceId })
    const failures: unknown[] = []
    for (const id of ids) await this.advance(id).catch((error: unknown) => failures.push(error))
    if (ids.length > 0 && failures.length === ids.length) throw failures[0]
    for (const error of failures) onFailure(error)
    return ids.length > 0
  }

  /** Changes a batch of one job, unless another process works on it. @throws Fault `unavailable` */
  async advance(id: number): Promise<void> {
    const { store, holder, clock } = this.#parts
    const last = this.#rows.get(id)
    // If it fails, the next call must look for what this one has done.
    this.#rows.delete(id)
    const claim = await store.jobs.claim({ id, holder, now: clock.now(), durationMs: claimMs })
    if (claim === null) return
    const { job, isTakenOver, isAuthorRevoked } = claim
    const known = isTakenOver ? undefined : last
    const isCanceled = isAuthorRevoked || stateOf(job) === 'canceling'
    const results = await allOf(
      job.planned.map(async (row) => {
        const done = known === undefined ? await this.#findDone(job, row) : null
        return done ?? (isCanceled ? null : this.#change(job, row))
      }),
    )
    const found = isCanceled ? none : await this.#rowsOf(job, known)
    const planned = found.rows.slice(0, batchSize)
    const rest = { rows: found.rows.slice(batchSize), end: found.end }
    const isEnd = planned.length === 0 && rest.end === null
    const isRecorded = await store.jobs.record({
      id,
      holder,
      now: clock.now(),
      results: results.filter((result) => result !== null),
      planned: planned.map(({ teamId, providedId }) => ({ teamId, providedId })),
      position: (rest.rows.length === 0 ? rest.end : null) ?? planned.at(-1)?.position ?? job.position,
      end: isCanceled ? 'canceled' : isEnd ? 'finished' : null,
    })
    if (isRecorded && !isEnd) this.#rows.set(id, rest)
  }

  /** Lets other processes take over. */
  release(): Promise<void> {
    return this.#parts.store.jobs.release(this.#parts.holder)
  }

  /** Returns rows that are left from the last search, or reads the next ones. */
  async #rowsOf(job: Job, known: Rows | undefined): Promise<Rows> {
    if (known !== undefined && (known.rows.length > 0 || known.end === null)) return known
    const { healthSearch, promotion, store } = this.#parts
    const { selection, position } = job
    const caller = callerOf(job)
    const scope = job.action === 'promote' ? promotion.sourceOf(caller) : caller
    if ('teamIds' in selection) {
      const start = Number(position ?? 0)
      const teamIds = selection.teamIds.slice(start, start + pageSize)
      const rows = teamIds.map(async (teamId, i) => {
        const found = await store.userGroups.findById(scope.workspaceId, scope.environment, teamId)
        return { teamId, providedId: found?.providedId ?? null, position: String(start + i + 1) }
      })
      const end = start + teamIds.length
      return {
        rows: await Promise.all(rows),
        end: end < selection.teamIds.length ? String(end) : null,
      }
    }
    const { search, health } = selection
    const page = await healthSearch.search(scope, search, { position, limit: pageSize }, health)
    const isByProvidedId = search.providedIdPrefix !== undefined
    const rows = page.items
      .filter(({ createdAt }) => createdAt <= job.createdAt)
      .map(({ teamId, providedId }) => ({
        teamId,
        providedId,
        position: isByProvidedId ? providedId : String(teamId),
      }))
    return { rows, end: page.position }
  }

  /** Returns the result of a row that an interrupted batch has changed; null if none has. */
  async #findDone(job: Job, row: JobRow): Promise<JobResult | null> {
    const { store } = this.#parts
    const { workspaceId, environment, createdAt } = job
    const teamId = job.action === 'promote' ? await this.#findPromoted(job, row) : row.teamId
    if (teamId === null) return null
    const events = await store.audit.list({
      workspaceId,
      environment,
      teamId,
      since: createdAt - maxClockSkewMs,
      beforeEventId: firstEventId(Infinity),
      limit: maxOwnEvents,
    })
    const own = events.find(({ requestId }) => requestId === requestIdOf(job))
    if (own === undefined) return null
    return resultOf(row, 'done', own.userGroup?.providedId)
  }

  async #findPromoted({ workspaceId, environment }: Job, { providedId }: JobRow): Promise<number | null> {
    if (providedId === null) return null
    const found = await this.#parts.store.userGroups.find({ workspaceId, environment, providedId })
    return found?.teamId ?? null
  }

  /** @throws Fault `unavailable` */
  async #change(job: Job, row: JobRow): Promise<JobResult> {
    try {
      return resultOf(row, await this.#outcomeOf(job, row))
    } catch (error) {
      if (!(error instanceof Fault) || error.code === 'unavailable') throw error
      const { code, message } = error
      return { ...resultOf(row, 'failed'), error: { code, message } }
    }
  }

  /** Does what the operation on one user group does. @throws Fault as the operation */
  async #outcomeOf(job: Job, { teamId, providedId }: JobRow): Promise<'done' | 'unchanged'> {
    const { userGroups, management, promotion } = this.#parts
    const caller = callerOf(job)
    const expected = { teamId }
    const { action, gracePeriodSeconds } = job
    if (providedId === null) throw new Fault('user_group_not_found', 'No user group has this team_id')
    switch (action) {
      case 'suspend':
      case 'resume': {
        const { isChanged } = await management.changeSuspension(caller, expected, action === 'suspend')
        return isChanged ? 'done' : 'unchanged'
      }
      case 'rotate': {
        const target = { providedId, expected }
        // Clients cannot send a key with a space. Two processes that both believe to hold the job rotate once.
        const idempotency = { key: `job ${job.id}`, fingerprint: Buffer.from(String(gracePeriodSeconds)) }
        await userGroups.rotate(caller, { target, gracePeriodSeconds, idempotency })
        return 'done'
      }
      case 'delete':
        await management.delete(caller, expected)
        return 'done'
      case 'promote': {
        const [result] = await promotion.promote(caller, [providedId], false)
        if (result?.outcome === 'refused') throw new Fault('validation_failed', result.message ?? '')
        if (result?.outcome === 'not_found')
          throw new Fault('user_group_not_found', 'No user group of Testing has this user_group_id')
        return result?.outcome === 'unchanged' ? 'unchanged' : 'done'
      }
    }
  }
}

/** Waits for all, also if one fails: what is in flight must not change anything later. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}

function resultOf(
  { teamId, providedId }: JobRow,
  outcome: JobResult['outcome'],
  providedIdOfEvent?: string,
): JobResult {
  return { teamId, providedId: providedId ?? providedIdOfEvent ?? null, outcome, error: null }
}

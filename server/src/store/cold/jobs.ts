import type { FaultCode } from '../../domain/fault.ts'
import type { Job, JobOutcome, JobRow, JobSelection } from '../../domain/job/job.ts'
import type { JobStore, NumberedResult } from '../../domain/job/job-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { appendAuditEvent } from './audit-log.ts'
import { batchSize } from './batch-deletion.ts'
import { inBatches, transaction, type Operations } from './operation.ts'
import { postgres, raw, rowsOf, sql } from './sql.ts'

/** A job as it is stored, with JSON texts and flags as numbers. */
interface StoredJob extends Omit<Job, 'selection' | 'total' | 'planned'> {
  readonly selection: string
  readonly totalCount: number
  readonly isTotalExact: number
  readonly planned: string
}

const jobColumns =
  raw(`job_id AS id, workspace_id AS "workspaceId", environment, action, grace_period_seconds AS "gracePeriodSeconds", selection,
  author, total_count AS "totalCount", is_total_exact AS "isTotalExact", created_at AS "createdAt", started_at AS "startedAt",
  canceled_at AS "canceledAt", finished_at AS "finishedAt", planned, position, done, unchanged, failed`)

interface JobResultRow extends Omit<NumberedResult, 'error'> {
  readonly errorCode: FaultCode | null
  readonly errorMessage: string | null
}

export const jobs: Operations<JobStore> = {
  *create({ maxUnfinished, ...job }) {
    const { isAmbiguous } = yield* transaction()
    const { workspaceId, environment, author, action, gracePeriodSeconds, selection, total, createdAt } = job
    // Creations in one workspace wait for each other, so that there are never too many jobs.
    yield* postgres`SELECT 1 FROM workspace WHERE workspace_id = ${workspaceId} FOR NO KEY UPDATE`
    const text = JSON.stringify(selection)
    if (isAmbiguous) {
      const [own] = yield* sql<StoredJob>`SELECT ${jobColumns} FROM job
        WHERE workspace_id = ${workspaceId} AND environment = ${environment}
        AND author = ${author} AND created_at = ${createdAt} AND action = ${action} AND selection = ${text}`
      if (own !== undefined) return jobOf(own)
    }
    const [found] = yield* sql<{ count: number }>`
      SELECT count(*) AS count FROM job WHERE workspace_id = ${workspaceId} AND finished_at IS NULL`
    if ((found?.count ?? 0) >= maxUnfinished) return null
    const [, apiTokenId = null] = /^api_token:(\d+)$/.exec(author) ?? []
    const [row] = yield* sql<StoredJob>`
      INSERT INTO job (workspace_id, environment, action, grace_period_seconds, selection, author, api_token_id, total_count, is_total_exact,
                       created_at)
      VALUES (${workspaceId}, ${environment}, ${action}, ${gracePeriodSeconds}, ${text}, ${author},
              ${apiTokenId === null ? null : Number(apiTokenId)}, ${total.count}, ${Number(total.isExact)}, ${createdAt})
      RETURNING ${jobColumns}`
    const created = jobOf(row as StoredJob)
    yield* appendAuditEvent('job.created', { ...job, now: createdAt }, describedJob(created))
    return created
  },

  *find(scope, id) {
    const [row] = yield* selectJob(scope, id)
    return row === undefined ? null : jobOf(row)
  },

  *list({ workspaceId, environment, beforeId, limit }) {
    const rows = yield* sql<StoredJob>`SELECT ${jobColumns} FROM job
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND job_id < ${beforeId ?? Number.MAX_SAFE_INTEGER}
      ORDER BY job_id DESC LIMIT ${limit}`
    return rows.map(jobOf)
  },

  *listResults({ workspaceId, environment, jobId, outcome, afterNumber, limit }) {
    if ((yield* selectJob({ workspaceId, environment }, jobId)).length === 0) return []
    const rows = yield* sql<JobResultRow>`
      SELECT number, team_id AS "teamId", provided_id AS "providedId", outcome, error_code AS "errorCode", error_message AS "errorMessage"
      FROM job_result WHERE job_id = ${jobId} AND number > ${afterNumber ?? 0} ${outcome === null ? raw('') : sql`AND outcome = ${outcome}`}
      ORDER BY number LIMIT ${limit}`
    return rows.map(resultOf)
  },

  *countUnfinished({ workspaceId, environment }) {
    const [row] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM job
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND finished_at IS NULL`
    return row?.count ?? 0
  },

  *cancel({ id, now, ...caller }) {
    const { isAmbiguous } = yield* transaction()
    const { workspaceId, environment } = caller
    const [canceled] =
      yield* sql<StoredJob>`UPDATE job SET canceled_at = ${now}, finished_at = CASE WHEN started_at IS NULL THEN CAST(${now} AS bigint) END
      WHERE job_id = ${id} AND workspace_id = ${workspaceId} AND environment = ${environment}
        AND canceled_at IS NULL AND finished_at IS NULL
      RETURNING ${jobColumns}`
    if (canceled !== undefined && !isAmbiguous)
      yield* appendAuditEvent('job.canceled', { ...caller, now }, describedJob(jobOf(canceled)))
    const [row] = canceled === undefined ? yield* selectJob(caller, id) : [canceled]
    return row === undefined ? null : jobOf(row)
  },

  *due({ holder, now, limit, workspaceId }) {
    const rows = yield* sql<{ job_id: number }>`SELECT job_id FROM job
      WHERE job_id IN (SELECT min(job_id) FROM job WHERE finished_at IS NULL GROUP BY workspace_id)
        AND (holder = ${holder} OR claimed_until <= ${now})
        AND workspace_id = coalesce(CAST(${workspaceId} AS bigint), workspace_id)
      ORDER BY claimed_until, job_id LIMIT ${limit}`.prepared('job_select_due')
    return rows.map((row) => row.job_id)
  },

  *claim({ id, holder, now, durationMs }) {
    const { isAmbiguous } = yield* transaction()
    const [found] = yield* sql<StoredJob & Claim>`
      SELECT ${jobColumns}, holder, claimed_until AS "claimedUntil", (
        SELECT count(*) FROM api_token WHERE api_token_id = job.api_token_id AND revoked_at IS NOT NULL
      ) AS "revokedAuthors"
      FROM job WHERE job_id = ${id}`.prepared('job_select_to_claim')
    if (found?.finishedAt !== null) return null
    const { holder: lastHolder, claimedUntil, revokedAuthors, ...job } = found
    const isAuthorRevoked = revokedAuthors > 0
    const isTakenOver = isAmbiguous || lastHolder !== holder
    if (!isTakenOver && claimedUntil >= now + durationMs / 2)
      return { job: jobOf(job), isTakenOver, isAuthorRevoked }
    const [claimed] = yield* sql<StoredJob>`
      UPDATE job SET holder = ${holder}, claimed_until = ${now + durationMs}, started_at = coalesce(started_at, ${now})
      WHERE job_id = ${id} AND finished_at IS NULL AND (holder = ${holder} OR claimed_until <= ${now}) RETURNING ${jobColumns}`
    return claimed === undefined ? null : { job: jobOf(claimed), isTakenOver, isAuthorRevoked }
  },

  *record({ id, holder, now, results, planned, position, end }) {
    yield* transaction()
    const counts = { done: 0, unchanged: 0, failed: 0 }
    for (const { outcome } of results) counts[outcome]++
    const { done, unchanged, failed } = counts
    const [row] = yield* sql<Record<JobOutcome, number>>`
      UPDATE job SET planned = ${JSON.stringify(planned)}, position = ${position}, done = done + ${done}, unchanged = unchanged + ${unchanged}, failed = failed + ${failed},
        canceled_at = ${end === 'canceled' ? sql`coalesce(canceled_at, ${now})` : raw('canceled_at')},
        finished_at = ${end === null ? raw('NULL') : sql`CAST(${now} AS bigint)`}
      WHERE job_id = ${id} AND holder = ${holder} AND finished_at IS NULL
      RETURNING done, unchanged, failed`
    if (row === undefined) return false
    const before = row.done + row.unchanged + row.failed - results.length
    const numbered = results.map(({ teamId, providedId, outcome, error }, i) => ({
      number: before + i + 1,
      team_id: teamId,
      provided_id: providedId,
      outcome,
      error_code: error?.code ?? null,
      error_message: error?.message ?? null,
    }))
    if (numbered.length > 0)
      yield* sql`INSERT INTO job_result (job_id, number, team_id, provided_id, outcome, error_code, error_message)
        SELECT ${id}, number, team_id, provided_id, outcome, error_code, error_message FROM ${rowsOf('result', resultTypes, numbered)}`
    return true
  },

  *release(holder) {
    yield* sql`UPDATE job SET holder = NULL, claimed_until = 0 WHERE finished_at IS NULL AND holder = ${holder}`
  },

  deleteFinished: inBatches(
    (before: number) =>
      function* () {
        yield* transaction()
        const [row] = yield* sql<{ job_id: number }>`
          SELECT job_id FROM job WHERE finished_at <= ${before} ORDER BY finished_at LIMIT 1`
        if (row === undefined) return { count: 0, isDone: true }
        const { length } = yield* sql`DELETE FROM job_result WHERE job_id = ${row.job_id} AND number IN (
          SELECT number FROM job_result WHERE job_id = ${row.job_id} ORDER BY number LIMIT ${batchSize}
        ) RETURNING 1`
        // Last, so that an interrupted run finds it again.
        if (length < batchSize) yield* sql`DELETE FROM job WHERE job_id = ${row.job_id}`
        return { count: length, isDone: false }
      },
  ),
}

interface Claim {
  readonly holder: string | null
  readonly claimedUntil: number
  readonly revokedAuthors: number
}

const resultTypes = {
  number: 'bigint',
  team_id: 'bigint',
  provided_id: 'text',
  outcome: 'text',
  error_code: 'text',
  error_message: 'text',
} as const

const selectJob = ({ workspaceId, environment }: TenantScope, id: number) =>
  sql<StoredJob>`SELECT ${jobColumns} FROM job WHERE job_id = ${id} AND workspace_id = ${workspaceId} AND environment = ${environment}`

/** Details of the audit events of a job. */
function describedJob({ id, action, total }: Job): object {
  return { job_id: id, action, total: total.count }
}

function jobOf({ totalCount, isTotalExact, ...row }: StoredJob): Job {
  return {
    ...row,
    selection: JSON.parse(row.selection) as JobSelection,
    total: { count: totalCount, isExact: isTotalExact === 1 },
    planned: JSON.parse(row.planned) as JobRow[],
  }
}

function resultOf({ errorCode, errorMessage, ...row }: JobResultRow): NumberedResult {
  return { ...row, error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' } }
}

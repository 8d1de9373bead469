import { validationFailed } from '../../../domain/fault.ts'
import type { JobSelection } from '../../../domain/job/job.ts'
import { PageLimit } from '../fields.ts'
import { type Operations, tagged } from '../operation.ts'
import { pageById } from '../pages.ts'
import { searchOf } from '../user-groups/criteria.ts'
import { shownJob } from './responses.ts'
import * as schemas from './schemas.ts'

export const jobOperations = tagged('User group management', {
  listJobs: {
    method: 'GET',
    path: '/jobs',
    scope: 'observe',
    summary: 'List the jobs',
    description: 'The newest first. Finished jobs are kept for 30 days.',
    query: PageLimit,
    response: schemas.JobListResponse,
    handle: async ({ caller, query }, { jobs }) => {
      const { items, nextCursor } = await pageById(
        query as PageLimit,
        ({ afterId: beforeId, limit }) => jobs.list(caller, { beforeId, limit }),
        ({ id }) => id,
      )
      return { body: { jobs: items.map(shownJob), nextCursor } }
    },
  },
  createJob: {
    method: 'POST',
    path: '/jobs',
    scope: 'support',
    summary: 'Change many user groups in the background',
    description:
      'Suspends, resumes, rotates, deletes or promotes each user group of a selection, as the operation on one does. The search criteria are evaluated while the job runs; user groups that are created after it are left out. The jobs of a workspace run one after the other. Revoking the API token cancels its jobs. `promote` requires an API token of `Customer`. If a response is lost, list the jobs.',
    retry: 'never',
    body: schemas.JobFields,
    status: 201,
    response: schemas.JobResponse,
    faults: ['limit_reached'],
    handle: async ({ caller, body }, { jobs }) => {
      const { action, grace_period_seconds: gracePeriodSeconds, ...rest } = body.value as schemas.JobFields
      if (gracePeriodSeconds !== undefined && action !== 'rotate')
        throw validationFailed([{ path: '/grace_period_seconds', message: 'is for the action rotate only' }])
      const selection = selectionOf(rest)
      const job = await jobs.create(caller, {
        action,
        gracePeriodSeconds: gracePeriodSeconds ?? 0,
        selection,
      })
      return { body: { job: shownJob(job) } }
    },
  },
  getJob: {
    method: 'GET',
    path: '/jobs/{id}',
    scope: 'observe',
    summary: 'Show a job and its progress',
    response: schemas.JobResponse,
    faults: ['not_found'],
    handle: async ({ caller, params }, { jobs }) => ({
      body: { job: shownJob(await jobs.find(caller, params.id as number)) },
    }),
  },
  cancelJob: {
    method: 'POST',
    path: '/jobs/{id}/cancel',
    scope: 'support',
    summary: 'Cancel a job',
    description:
      'User groups that are in flight are still changed, at most eight. What was done stays. A finished job stays as it is.',
    response: schemas.JobResponse,
    faults: ['not_found'],
    handle: async ({ caller, params }, { jobs }) => ({
      body: { job: shownJob(await jobs.cancel(caller, params.id as number)) },
    }),
  },
  listJobResults: {
    method: 'GET',
    path: '/jobs/{id}/results',
    scope: 'observe',
    summary: 'List what a job did to each user group',
    description: 'In the order in which the job changes them. A rotation shows no token.',
    query: schemas.JobResultSearch,
    response: schemas.JobResultListResponse,
    faults: ['not_found'],
    handle: async ({ caller, params, query }, { jobs }) => {
      const { outcome = null, ...page } = query as schemas.JobResultSearch
      const { items, nextCursor } = await pageById(
        page,
        ({ afterId: afterNumber, limit }) =>
          jobs.listResults(caller, params.id as number, { outcome, afterNumber, limit }),
        ({ number }) => number,
      )
      return { body: { results: items, nextCursor } }
    },
  },
} as const satisfies Operations)

/** @throws Fault `validation_failed` unless there is exactly one of team ids, `all`, and criteria */
function selectionOf({
  team_ids: teamIds,
  all,
  suspended,
  property_value: value,
  health,
  ...others
}: Omit<schemas.JobFields, 'action' | 'grace_period_seconds'>): JobSelection {
  const criteria = {
    ...others,
    ...(suspended !== undefined && { suspended: suspended ? ('true' as const) : ('false' as const) }),
    // A number or boolean is sent as such.
    ...(value !== undefined && { property_value: (value as string | number | boolean).toString() }),
  }
  const hasCriteria = health !== undefined || Object.keys(criteria).length > 0
  const given = [teamIds !== undefined, all === true, hasCriteria].filter(Boolean)
  if (given.length !== 1)
    throw validationFailed([{ path: '', message: 'must have either team_ids, all or search criteria' }])
  return teamIds !== undefined ? { teamIds } : { search: searchOf(criteria), health }
}

import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { object, orNull, response, seconds, textEnum } from '../../../contract/schema.ts'
import { identity } from '../../../contract/user/schemas.ts'
import { jobActions, jobOutcomes, jobStates, maxJobTeamIds } from '../../../domain/job/job.ts'
import {
  count,
  id,
  numberOrNull,
  page,
  pageParameters,
  textOrNull,
  time,
  timeOrNull,
  Total,
} from '../fields.ts'
import { criteria } from '../user-groups/criteria.ts'

export const JobAction = textEnum(jobActions, {
  description: 'The change that the job makes to each user group.',
})

const jobCriteria = {
  ...criteria,
  suspended: Type.Optional(
    Type.Boolean({ description: 'Only user groups that are, or are not, suspended.' }),
  ),
}

export const JobFields = object(
  {
    action: JobAction,
    grace_period_seconds: seconds(
      'For `rotate`: time for which the old tokens stay valid for viewing, in whole seconds: 0 to 604800. Default: 0.',
      { maximum: limits.gracePeriodSeconds, example: 3600 },
    ),
    team_ids: Type.Optional(
      Type.Array(Type.Integer({ minimum: 1, maximum: limits.id }), {
        description: `Team ids: 1 to ${maxJobTeamIds}, without duplicates. For \`promote\`, those of \`Testing\`.`,
        minItems: 1,
        maxItems: maxJobTeamIds,
        uniqueItems: true,
        examples: [[7, 12]],
      }),
    ),
    all: Type.Optional(Type.Literal(true, { description: 'Selects every user group.' })),
    ...jobCriteria,
  },
  'The selection is one of: `team_ids`, `all`, or search criteria, all of which a user group must match.',
)
export type JobFields = Static<typeof JobFields>

export const JobFilter = object(jobCriteria, 'Search criteria. Empty for every user group.')

export const Job = object(
  {
    id: id('Id of the job.'),
    action: JobAction,
    grace_period_seconds: numberOrNull('For `rotate`. Null otherwise.', 3600),
    filter: orNull(JobFilter, 'Null if the job has team ids.'),
    state: textEnum(jobStates, {
      description:
        '`queued` while an earlier job of the workspace is unfinished. `canceling` until the user groups that are in flight are recorded.',
    }),
    author: Type.String({
      description: 'Author of the changes, as in the audit log.',
      examples: ['api_token:3'],
    }),
    request_id: Type.String({
      description: '`request_id` of the audit events of the changes.',
      examples: ['job-213'],
    }),
    created_at: time('Time of creation'),
    started_at: timeOrNull('Time of the start', 'it is queued'),
    finished_at: timeOrNull('Time of the end', 'it is unfinished'),
    total: Total,
    processed: count('Number of user groups with a result.', 120),
    done: count('Number of user groups that were changed.', 117),
    unchanged: count('Number of user groups that already were as wanted.', 2),
    failed: count('Number of user groups that could not be changed.', 1),
  },
  'A change of many user groups, which goes on after the response, also after a restart of the service.',
)

export const JobResponse = response({ job: Job })
export const JobListResponse = page({ jobs: Type.Array(Job) })

export const JobResultSearch = object({
  outcome: Type.Optional(
    textEnum(jobOutcomes, { description: 'Only results with this outcome. Default: all.' }),
  ),
  ...pageParameters,
})
export type JobResultSearch = Static<typeof JobResultSearch>

export const JobResult = object(
  {
    number: Type.Integer({ description: 'Place among the results, from 1.', minimum: 1, examples: [1] }),
    team_id: identity.team_id,
    provided_id: textOrNull('Null if no user group had the team id.', 'customer-42'),
    outcome: textEnum(jobOutcomes, {
      description: '`unchanged` if the user group already was as wanted.',
    }),
    error: orNull(
      object({
        code: Type.String({ description: 'Error code of the operation.', examples: ['validation_failed'] }),
        message: Type.String({ examples: ['mapping: names no registered schema'] }),
      }),
      'The reason of `failed`. Null otherwise.',
    ),
  },
  'What a job did to one user group.',
)

export const JobResultListResponse = page({
  results: Type.Array(JobResult),
})

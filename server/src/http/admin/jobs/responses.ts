import { requestIdOf, stateOf, type Job } from '../../../domain/job/job.ts'
import { criteriaOf } from '../user-groups/criteria.ts'

/** Returns the members of a `Job`. */
export const shownJob = ({ selection, gracePeriodSeconds, ...job }: Job) => ({
  ...job,
  gracePeriodSeconds: job.action === 'rotate' ? gracePeriodSeconds : null,
  filter: 'teamIds' in selection ? null : { ...criteriaOf(selection.search), health: selection.health },
  state: stateOf(job),
  requestId: requestIdOf(job),
  processed: job.done + job.unchanged + job.failed,
})

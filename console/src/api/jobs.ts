import { queryOptions } from '@tanstack/react-query'
import { getAdmin, postAdmin } from './request.ts'
import type { Wire } from './wire.ts'

export type Job = Wire['Job']
export type JobAction = Job['action']
export type JobResult = Wire['JobResult']

/** A number that is exact up to 10,000. */
export type Total = Job['total']

/** Search parameters of user groups. Empty for all. */
export type Filter = Readonly<Record<string, string | boolean>>

export interface NewJob {
  readonly action: JobAction
  readonly gracePeriodSeconds?: number
  /** The user groups to change: those that match, or those with these team ids. */
  readonly selection: Filter | readonly number[]
}

/** Maximum number of user groups that are chosen one by one. */
export const chosenAtMost = 1000

/** Returns true if user groups are chosen one by one. */
export const isChosen = (selection: NewJob['selection']): selection is readonly number[] =>
  Array.isArray(selection)

export const isOver = ({ state }: Job): boolean => state === 'finished' || state === 'canceled'

export async function createJob({ action, gracePeriodSeconds, selection }: NewJob): Promise<Job> {
  const selected = isChosen(selection)
    ? { team_ids: selection }
    : Object.keys(selection).length === 0
      ? { all: true }
      : selection
  const body = { action, grace_period_seconds: gracePeriodSeconds, ...selected }
  return (await postAdmin<Wire['JobResponse']>('/jobs', { body })).job
}

export const cancelJob = async (id: number): Promise<Job> =>
  (await postAdmin<Wire['JobResponse']>(`/jobs/${id}/cancel`)).job

/** A job, loaded every second until it is over. */
export const jobQuery = (id: number) =>
  queryOptions({
    queryKey: ['jobs', id],
    queryFn: async ({ signal }) => (await getAdmin<Wire['JobResponse']>(`/jobs/${id}`, { signal })).job,
    refetchInterval: ({ state: { data } }) => (data === undefined || isOver(data) ? false : 1000),
  })

import { setTimeout as sleep } from 'node:timers/promises'
import { Argument, Option, type Command } from 'commander'
import { jobActions, jobOutcomes, type JobAction } from '../domain/job/job.ts'
import { addCriteria, criteriaOf, type CriteriaOptions } from './criteria.ts'
import { CommandError, UsageError } from './errors.ts'
import { actions, byId, withManagement, type Management, type ResponseOf } from './management.ts'
import { parseCount, parseDuration, tenantScopeCommand } from './options.ts'
import { fieldTable, printOutput, shortTime, type Output } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import type { TenantScopeOptions } from './with-store.ts'

type RunOptions = TenantScopeOptions &
  CriteriaOptions & { all?: boolean; teamId?: number[]; grace?: number; yes?: boolean }
type ResultOptions = TenantScopeOptions & { outcome?: string; limit: number }
type Job = ResponseOf<'getJob'>['job']

const resource = {
  load: async () => ({
    ...(await import('../http/admin/jobs/operations.ts')).jobOperations,
    ...(await import('../http/admin/user-groups/operations.ts')).userGroupOperations,
  }),
  usesSecretKeys: true,
} as const
const { runs, lists } = actions(resource)

/** Interval of looking at a job that another process works on, in milliseconds. */
const pollMs = 200

export function addJobCommands(program: Command): void {
  const job = program.command('job').description('Change many user groups, and show the jobs that do it.')
  addCriteria(tenantScopeCommand(job, 'run', 'Change all user groups of a selection, and show the progress.'))
    .addArgument(new Argument('<action>', 'change to make').choices(jobActions))
    .option('--all', 'select every user group')
    .option('--team-id <id...>', 'select user groups by their team ids', collectIds)
    .option(
      '--grace <duration>',
      'for rotate: time for which old tokens stay valid for viewing',
      parseDuration,
    )
    .option('--yes', 'do it; without it, only report how many user groups match')
    .action(run)
  tenantScopeCommand(job, 'list', 'List the jobs, newest first.')
    .option('--limit <count>', 'maximum number of jobs', parseCount, 100)
    .action(
      lists('listJobs', 'jobs', [
        'id',
        'action',
        'state',
        'author',
        'created_at',
        ['TOTAL', ({ total }) => totalText(total)],
        'done',
        'unchanged',
        'failed',
      ]),
    )
  const one = (name: string, description: string) =>
    tenantScopeCommand(job, name, description).argument('<id>', 'id from `ugs job list`', parseCount)
  one('show', 'Show a job and its progress.').action(runs('getJob', byId, ({ job }) => shown(job)))
  one('cancel', 'Cancel a job. What was done stays.').action(
    runs('cancelJob', byId, ({ job }) => ({ json: job, message: `The job ${job.id} is ${job.state}.` })),
  )
  one('results', 'List what a job did to each user group.')
    .addOption(new Option('--outcome <outcome>', 'only this outcome').choices(jobOutcomes))
    .option('--limit <count>', 'maximum number of results', parseCount, 100)
    .action(
      lists(
        'listJobResults',
        'results',
        ['number', 'team_id', 'provided_id', 'outcome', ['ERROR', ({ error }) => error?.message]],
        ({ outcome }: ResultOptions, id: number) => ({ params: { id }, query: { outcome } }),
      ),
    )
}

function collectIds(text: string, earlier: number[] | undefined): number[] {
  return [...(earlier ?? []), parseCount(text)]
}

async function run(action: JobAction, options: RunOptions): Promise<void> {
  const { suspended, ...texts } = criteriaOf(options)
  const criteria = { ...texts, ...(suspended !== undefined && { suspended: suspended === 'true' }) }
  const { teamId: teamIds, all, grace, yes } = options
  const body = {
    action,
    ...criteria,
    ...(grace !== undefined && { grace_period_seconds: grace / 1000 }),
    ...(teamIds && { team_ids: teamIds }),
    ...(all && { all }),
  }
  const job = await withManagement(resource, options, async (management) => {
    if (yes !== true) throw new UsageError(await questionOf(management, action, options))
    const { job } = await management.call('createJob', { body })
    return follow(management, job)
  })
  printOutput(shown(job), options.json)
  if (job.failed > 0)
    throw new CommandError(
      `some user groups failed; list them with \`ugs job results ${job.id} --outcome failed\``,
    )
  if (job.state === 'canceled') throw new CommandError('the job was canceled')
}

/** Says what `--yes` would do. A promotion selects from another environment than the one whose user groups can be counted here. */
async function questionOf(
  management: Management<'searchUserGroups'>,
  action: JobAction,
  options: RunOptions,
) {
  const query = { ...criteriaOf(options), total: 'true', limit: '1' }
  const number =
    options.teamId?.length ??
    (action === 'promote' ? undefined : (await management.call('searchUserGroups', { query })).total)
  const count = number === undefined ? 'the' : typeof number === 'number' ? String(number) : totalText(number)
  return `this would ${action} ${count} user groups that are selected; add --yes to do it`
}

/** Works on a job, after the earlier ones of the workspace, until it ends, unless a service does. */
async function follow(management: Management<'getJob'>, created: Job): Promise<Job> {
  const { jobRunner } = management.services
  const { id } = created
  const total = created.total.is_exact ? created.total.count : undefined
  const bar = new ProgressBar('user groups')
  try {
    for (let job = created; ;) {
      await jobRunner.step(management.caller.workspaceId)
      const next = (await management.call('getJob', { params: { id } })).job
      bar.show(next.action, next.processed, total === undefined ? undefined : Math.max(total, next.processed))
      if (next.finished_at !== null) return next
      if (next.processed === job.processed) await sleep(pollMs)
      job = next
    }
  } finally {
    bar.stop()
    await jobRunner.release()
  }
}

function totalText({ count, is_exact }: Job['total']): string {
  return is_exact ? String(count) : `at least ${count}`
}

function shown(job: Job): Output {
  const table = fieldTable([
    ['id', String(job.id)],
    ['action', job.action],
    ['state', job.state],
    ['author', job.author],
    ['created', shortTime(job.created_at)],
    ['finished', shortTime(job.finished_at)],
    ['total', totalText(job.total)],
    ['done', String(job.done)],
    ['unchanged', String(job.unchanged)],
    ['failed', String(job.failed)],
    ['audit log', `request id ${job.request_id}`],
  ])
  return { json: job, table }
}

import type { Job, JobAction, Total } from '../../api/jobs.ts'
import { numberText } from '../../components/counts.tsx'

interface ActionTexts {
  readonly label: string
  /** Consequences. */
  readonly text: string
  readonly isDestructive: boolean
}

export const actionTexts: Readonly<Record<JobAction, ActionTexts>> = {
  suspend: {
    label: 'Suspend',
    text: 'Their tokens become inactive at once, and their embedded dashboards stop. You can resume them.',
    isDestructive: true,
  },
  resume: {
    label: 'Resume',
    text: 'Their current tokens work again at once.',
    isDestructive: false,
  },
  rotate: {
    label: 'Rotate the tokens of',
    text: 'Each gets a new token. Your backend gets it with its next GET /api/user request.',
    isDestructive: true,
  },
  delete: {
    label: 'Delete',
    text: 'Their tokens and embedded dashboards stop at once. For 30 days you can restore each, unless its id is taken.',
    isDestructive: true,
  },
  promote: {
    label: 'Promote',
    text: 'Copies name, mapping and properties from Testing. User groups that are new in Customer get their own tokens.',
    isDestructive: false,
  },
}

/** Formats a number: "1 user group", "10,000+ user groups". */
export function totalText({ count, is_exact }: Total): string {
  return `${numberText(count)}${is_exact ? '' : '+'} ${count === 1 && is_exact ? 'user group' : 'user groups'}`
}

export const titleOf = ({ action, total }: Pick<Job, 'action' | 'total'>): string =>
  `${actionTexts[action].label} ${totalText(total)}`

export const stateTexts: Readonly<Record<Job['state'], string>> = {
  queued: 'Waiting to start',
  running: 'Running',
  canceling: 'Stopping',
  canceled: 'Canceled',
  finished: 'Finished',
}

const filterNames: Readonly<Record<string, string>> = {
  text: 'Name or id contains',
  property: 'Property',
  property_value: 'Value',
  schema: 'Schema',
  data_source: 'Data source',
  suspended: 'Suspended',
  health: 'Problem',
}

/** Describes which user groups a job concerns. */
export function filterText(filter: Job['filter']): string {
  if (filter === null) return 'Chosen one by one.'
  const parts = Object.entries(filter).map(
    ([name, value]) => `${filterNames[name] ?? name}: ${String(value)}`,
  )
  return parts.length === 0 ? 'All user groups.' : `All that match. ${parts.join('; ')}.`
}

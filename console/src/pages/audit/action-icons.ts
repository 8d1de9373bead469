import {
  IconDatabase,
  IconDoorExit,
  IconEye,
  IconKey,
  IconHistory,
  IconPencil,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlus,
  IconRefresh,
  IconTrash,
  IconUsers,
  IconWebhook,
} from '../../components/icons.tsx'
import type { Action } from './search.ts'

const ofUserGroups: Readonly<Record<string, typeof IconHistory>> = {
  'user_group.created': IconPlus,
  'user_group.updated': IconPencil,
  'user_group.token_rotated': IconRefresh,
  'user_group.grace_period_ended': IconRefresh,
  'user_group.suspended': IconPlayerPause,
  'user_group.resumed': IconPlayerPlay,
  'user_group.deleted': IconTrash,
  'user_group.restored': IconPlayerPlay,
  'user_group.sessions_ended': IconDoorExit,
  'user_group.viewed_as': IconEye,
}

const ofResources: Readonly<Record<string, typeof IconHistory>> = {
  api_token: IconKey,
  signing_key: IconKey,
  workspace: IconUsers,
  schema: IconDatabase,
  data_source: IconDatabase,
  webhook_endpoint: IconWebhook,
}

/** Actions that stop dashboards. */
const stopping: readonly string[] = [
  'user_group.suspended',
  'user_group.deleted',
  'user_group.sessions_ended',
]

/** Returns the icon of an action, and `bad` if it stops dashboards. */
export function lookOf(action: Action) {
  const [resource = ''] = action.split('.')
  return {
    Icon: ofUserGroups[action] ?? ofResources[resource] ?? IconHistory,
    ...(stopping.includes(action) && { tone: 'bad' as const }),
  }
}

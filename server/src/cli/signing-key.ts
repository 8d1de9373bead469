import type { Command } from 'commander'
import { isRetired, signingKeyAt, type SigningKey } from '../domain/viewer-session/signing-key.ts'
import { withManagement } from './management.ts'
import { tenantScopeCommand } from './options.ts'
import { printOutput, shortTime, tableOf } from './output.ts'
import { userGroups } from './user-group-management.ts'
import type { TenantScopeOptions } from './with-store.ts'

export function addSigningKeyCommands(program: Command): void {
  const signingKey = program
    .command('signing-key')
    .description('Manage the keys that sign viewer sessions: one signs for each environment.')

  tenantScopeCommand(
    signingKey,
    'list',
    'List the signing keys. The first session creates one, and a key of 90 days is replaced.',
  ).action(list)

  tenantScopeCommand(
    signingKey,
    'rotate',
    'Replace the key that signs. The new key signs in 10 minutes, so that verifiers know it by then. Sessions stay.',
  )
    .option('--now', 'for a stolen key: the new key signs at once, and all sessions of this environment end')
    .action(rotate)
}

async function list(options: TenantScopeOptions): Promise<void> {
  const keys = await withManagement(userGroups, options, ({ services, caller }) =>
    services.viewerSessions.keys.list(caller),
  )
  const json = keys.map((key) => shownKey(key, keys, Date.now()))
  const table = tableOf(
    ['id', 'state', 'created_at', ['SIGNS_FROM', (key) => shortTime(key.signs_from)], 'retired_at'],
    json,
  )
  printOutput({ json, table }, options.json)
}

async function rotate({ now = false, ...options }: TenantScopeOptions & { now?: boolean }): Promise<void> {
  const key = await withManagement(userGroups, options, ({ services, caller }) =>
    services.viewerSessions.keys.rotate(caller, now),
  )
  const json = shownKey(key, [key], Date.now())
  const effect = now
    ? 'It signs from now on. All earlier sessions of this environment are over.'
    : `It signs from ${json.signs_from}. Sessions stay.`
  printOutput({ json, message: `Created signing key "${key.signingKeyId}". ${effect}` }, options.json)
}

function shownKey(key: SigningKey, keys: readonly SigningKey[], now: number) {
  const timeText = (time: number) => new Date(time).toISOString()
  const signs = signingKeyAt(keys, now)?.signingKeyId === key.signingKeyId
  return {
    id: key.signingKeyId,
    state: isRetired(key, now) ? 'retired' : signs ? 'signs' : key.signsFrom > now ? 'announced' : 'verifies',
    created_at: timeText(key.createdAt),
    signs_from: timeText(key.signsFrom),
    retired_at: key.retiredAt === null ? null : timeText(key.retiredAt),
  }
}

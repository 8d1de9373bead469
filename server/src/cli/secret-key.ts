import { InvalidArgumentError, type Command } from 'commander'
import { readConfig, type Config } from '../config/settings.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import {
  formatSecretKey,
  generateSecretKey,
  isSecretKeyId,
  type SecretKey,
} from '../domain/secret-key/keyring.ts'
import type { TokenOwner } from '../domain/reencryption/encrypted-token.ts'
import { countEncryptedTokens, reencryptTokens } from '../domain/reencryption/reencryption.ts'
import { changeSecretKeyFile, LockedFileError } from '../config/secret-key-file.ts'
import { openKeyring, readSecretKeys, secretKeyFileSettled } from '../config/secret-keys.ts'
import { CommandError, UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printOutput, tableOf } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import { withStore } from './with-store.ts'

interface JsonOption {
  json?: boolean
}

/** Maximum number of user groups that an error message names. */
const maxNamed = 20

export function addSecretKeyCommands(program: Command): void {
  const secretKey = program
    .command('secret-key')
    .description('Manage the secret keys, which encrypt user group tokens and webhook secrets in the store.')

  secretKey
    .command('add')
    .description(
      'Create a secret key and put it first in the secret key file. The first key encrypts; all keys decrypt. Running services read the file again within about a second.',
    )
    .option('--id <id>', 'id of the key: 1 to 32 letters, digits, "-" or "_" (default: the date)', parseKeyId)
    .option('--print', 'print a new key without changing the file, for UGS_SECRET_KEYS or a secret manager')
    .addOption(jsonOption())
    .action(add)

  secretKey
    .command('list')
    .description('List the secret keys with the numbers of tokens and webhook secrets that they encrypt.')
    .addOption(jsonOption())
    .action(list)

  secretKey
    .command('reseal')
    .description(
      'Encrypt all user group tokens and webhook secrets again with the first secret key. None changes. Services may be running. After an interruption, run the command again.',
    )
    .addOption(jsonOption())
    .action(reseal)

  secretKey
    .command('retire')
    .description(
      'Remove a secret key that no longer encrypts any token. Keep the key with older backups, which need it.',
    )
    .argument('<id>', 'id from `ugs secret-key list`', parseKeyId)
    .option(
      '--stop-sealing',
      'stop encryption with a key that is still in use: creations and rotations fail in processes that have it first',
    )
    .addOption(jsonOption())
    .action(retire)
}

function parseKeyId(text: string): string {
  if (!isSecretKeyId(text)) throw new InvalidArgumentError('It must be 1 to 32 letters, digits, "-" or "_".')
  return text
}

async function add({ id, print, json }: JsonOption & { id?: string; print?: boolean }): Promise<void> {
  if (print === true) {
    printSecretKey(generateSecretKey(id ?? dateId([])), json)
    return
  }
  const config = readConfig(process.env)
  const added = await withStore(async (store) => {
    // Problems with the current keys must be found before the file changes.
    await openKeyring(config, store)
    const retired = await store.secretKeys.listRetired()
    const [first] = changeKeys(config, (keys) => {
      const taken = [...retired, ...keys.map((key) => key.id)]
      if (id !== undefined && taken.includes(id))
        throw new UsageError(`the id "${id}" belongs to a current or retired secret key; choose another id`)
      return [generateSecretKey(id ?? dateId(taken)), ...keys]
    })
    await openKeyring(config, store)
    return (first as SecretKey).id
  })
  const message = `Created secret key "${added}", which now encrypts (${config.secretKeyFile}). Back up the file, then run \`ugs secret-key reseal\`.`
  printOutput({ json: { id: added }, message }, json)
}

function printSecretKey(key: SecretKey, json?: boolean): void {
  const secret = formatSecretKey(key)
  const message =
    'The key is in no file yet. Add it to every service in the last position first. When all services have read it, move it to the first position.'
  printOutput({ json: { id: key.id, secret_key: secret }, secret, message }, json)
}

async function list({ json }: JsonOption): Promise<void> {
  const config = readConfig(process.env)
  const rows = await withStore(async (store) => {
    const keys = (readSecretKeys(config) ?? []).map(({ id }) => id)
    const checks = (await store.secretKeys.listChecks()).map(({ keyId }) => keyId)
    const counts = await countEncryptedTokens(store)
    return [...new Set([...keys, ...checks, ...counts.keys()])].map((id) => ({
      id,
      state: id === keys[0] ? 'seals' : keys.includes(id) ? 'opens' : 'missing',
      tokens: counts.get(id) ?? 0,
    }))
  })
  printOutput({ json: rows, table: tableOf(['id', 'state', 'tokens'], rows) }, json)
}

async function reseal({ json }: JsonOption): Promise<void> {
  const config = readConfig(process.env)
  const { keyId, reencrypted, undecryptable, encryptedMeanwhile } = await withStore(async (store) => {
    const keyring = await openKeyring(config, store)
    const total = sum(await countEncryptedTokens(store))
    const bar = new ProgressBar('tokens')
    try {
      const outcome = await reencryptTokens(
        store,
        keyring,
        (done, pass) => bar.show(pass === 1 ? 're-encrypting' : 'checking', done, total),
        () => secretKeyFileSettled(config),
      )
      return { keyId: keyring.sealingKeyId, ...outcome }
    } finally {
      bar.stop()
    }
  })
  const rows = undecryptable.map(({ owner, token }) => ({
    workspace_id: owner.workspaceId,
    api_environment_tag: owner.environment,
    ...jsonOfOwner(owner),
    secret_key: token.keyId,
  }))
  const message = `Encrypted ${reencrypted} tokens with "${keyId}".`
  printOutput({ json: { id: keyId, resealed: reencrypted, unopened: rows }, message }, json)
  if (encryptedMeanwhile > 0)
    throw new CommandError(
      `meanwhile ${encryptedMeanwhile} tokens were encrypted with another key, by a process with other secret keys. Each process logs its "sealing_key_id" when it starts. Give that process these keys or stop it, or refuse its key with \`ugs secret-key retire ID --stop-sealing\`. Then run this command again`,
    )
  if (undecryptable.length > 0) {
    const names = undecryptable
      .slice(0, maxNamed)
      .map(({ owner }) => nameOf(owner))
      .join(', ')
    const more = undecryptable.length > maxNamed ? ' and others' : ''
    throw new CommandError(
      `${undecryptable.length} tokens cannot be decrypted with these keys and are unchanged: those of ${names}${more}. Restore the key that encrypted them, or rotate the tokens`,
    )
  }
}

function jsonOfOwner(owner: TokenOwner): object {
  if ('providedId' in owner) return { provided_id: owner.providedId }
  return 'signingKeyId' in owner
    ? { signing_key_id: owner.signingKeyId }
    : { webhook_endpoint_id: owner.webhookEndpointId }
}

function nameOf(owner: TokenOwner): string {
  if ('providedId' in owner) return JSON.stringify(owner.providedId)
  return 'signingKeyId' in owner
    ? `signing key ${owner.signingKeyId}`
    : `webhook endpoint ${owner.webhookEndpointId}`
}

async function retire(
  id: string,
  { json, stopSealing }: JsonOption & { stopSealing?: boolean },
): Promise<void> {
  const config = readConfig(process.env)
  const keys = readSecretKeys(config) ?? []
  await withStore(async (store) => {
    const isKnown = keys.some((key) => key.id === id)
    refuseFirstKey(keys, id)
    if (!isKnown && !(await store.secretKeys.listChecks()).some(({ keyId }) => keyId === id))
      throw new CommandError(`there is no secret key "${id}"; see \`ugs secret-key list\``)
    // Until then, a service may still encrypt with the key.
    await secretKeyFileSettled(config)
    const count = async () => (await countEncryptedTokens(store)).get(id) ?? 0
    const inUse = stopSealing === true ? 0 : await count()
    if (inUse > 0)
      throw new CommandError(
        `${inUse} user group tokens are encrypted with "${id}": run \`ugs secret-key reseal\`. If you just did, a running process still has "${id}" first; add --stop-sealing to refuse its writes`,
      )
    // From here on, the store refuses tokens that are encrypted with this key.
    await store.secretKeys.retire(id)
    const remaining = await count()
    if (remaining > 0)
      throw new CommandError(
        `"${id}" encrypts no new tokens, but ${remaining} user group tokens still need it: run \`ugs secret-key reseal\`, then this command again`,
      )
    await store.secretKeys.deleteCheck(id)
    if (isKnown && config.UGS_SECRET_KEYS === undefined)
      changeKeys(config, (present) => {
        refuseFirstKey(present, id)
        return present.filter((key) => key.id !== id)
      })
  })
  const advice = isStillIn(config, id) ? ' Remove it from UGS_SECRET_KEYS now.' : ''
  printOutput({ json: { id }, message: `Retired "${id}".${advice}` }, json)
}

function refuseFirstKey([first]: readonly SecretKey[], id: string): void {
  if (first?.id === id)
    throw new CommandError(
      `"${id}" is the first key, which encrypts; put another key first with \`ugs secret-key add\``,
    )
}

function isStillIn({ UGS_SECRET_KEYS }: Config, id: string): boolean {
  return UGS_SECRET_KEYS?.some((key) => key.id === id) ?? false
}

/**
 * Changes the secret key file and returns its keys.
 * @throws CommandError, UsageError
 */
function changeKeys(config: Config, change: (keys: SecretKey[]) => SecretKey[]): SecretKey[] {
  if (config.UGS_SECRET_KEYS !== undefined)
    throw new CommandError(
      'the keys are in UGS_SECRET_KEYS, which this command cannot change; add --print to print a key for it',
    )
  try {
    return changeSecretKeyFile(config.secretKeyFile, change)
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandError) throw error
    if (error instanceof LockedFileError)
      throw new CommandError(
        `${error.lock} exists: another command is changing the keys. If no such command is running, remove the file`,
      )
    throw new CommandError(
      `${config.secretKeyFile}: cannot be changed (${errorCodeOf(error) ?? 'unknown'}); change it at its source, with a key from \`ugs secret-key add --print\``,
    )
  }
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

/** Returns the date, with a number if a key already has that id. */
function dateId(taken: readonly string[]): string {
  const date = new Date().toISOString().slice(0, 10)
  let id = date
  for (let number = 2; taken.includes(id); number++) id = `${date}-${number}`
  return id
}

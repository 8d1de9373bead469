import { InvalidArgumentError, type Command } from 'commander'
import { readConfig, type Config } from '../config/settings.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import {
  formatSecretKey,
  generateSecretKey,
  isSecretKeyId,
  type SecretKey,
} from '../domain/secret-key/keyring.ts'
import { countEncryptedTokens, reencryptTokens } from '../domain/secret-key/secret-key-management.ts'
import { changeSecretKeyFile, LockedFileError } from '../config/secret-key-file.ts'
import { openKeyring, readSecretKeys, secretKeyFileSettled } from '../config/secret-keys.ts'
import { CommandError, UsageError } from './errors.ts'
import { jsonOption } from './options.ts'
import { printJson, printLine, printTable } from './output.ts'
import { ProgressBar } from './progress-bar.ts'
import { withStore } from './with-store.ts'

interface JsonOption {
  json?: boolean
}

/** How many of the tokens that cannot be opened are named. */
const maxNamed = 20

export function addSecretKeyCommands(program: Command): void {
  const secretKey = program
    .command('secret-key')
    .description('The keys that user group tokens are sealed with in the store.')

  secretKey
    .command('add')
    .description(
      'Make a secret key and put it first in the file of secret keys: it seals from now on, and those before it still open. A running service takes note within a second or so.',
    )
    .option(
      '--id <id>',
      'what to call it: 1 to 32 letters, digits, "-" or "_" (default: the date)',
      parseKeyId,
    )
    .option('--print', 'change nothing, and show the key, to be put into UGS_SECRET_KEYS or elsewhere')
    .addOption(jsonOption())
    .action(add)

  secretKey
    .command('list')
    .description('List the secret keys, and how many user group tokens are sealed with each.')
    .addOption(jsonOption())
    .action(list)

  secretKey
    .command('reseal')
    .description(
      'Seal every user group token with the first secret key, beside a running service. No token changes. It may be interrupted, and goes on when it is run again.',
    )
    .addOption(jsonOption())
    .action(reencrypt)

  secretKey
    .command('retire')
    .description(
      'Take away a secret key that nothing is sealed with any more. Backups from before need it: keep it with them.',
    )
    .argument('<id>', 'its id, as `ugs secret-key list` shows it', parseKeyId)
    .option(
      '--stop-sealing',
      'where something is sealed with it: have nothing more be. Creations and rotations of a process that has it first fail',
    )
    .addOption(jsonOption())
    .action(retire)
}

function parseKeyId(text: string): string {
  if (!isSecretKeyId(text)) throw new InvalidArgumentError('It is 1 to 32 letters, digits, "-" or "_".')
  return text
}

async function add({ id, print, json }: JsonOption & { id?: string; print?: boolean }): Promise<void> {
  if (print === true) {
    show(generateSecretKey(id ?? dateId([])), json)
    return
  }
  const config = readConfig(process.env)
  const added = await withStore(async (store) => {
    // What is wrong with the keys is found before they change.
    await openKeyring(config, store)
    const retired = await store.secretKeys.listRetired()
    const [first] = changed(config, (keys) => {
      const taken = [...retired, ...keys.map((key) => key.id)]
      if (id !== undefined && taken.includes(id))
        throw new UsageError(`there is a secret key "${id}" already, or was; give the new one another id`)
      return [generateSecretKey(id ?? dateId(taken)), ...keys]
    })
    await openKeyring(config, store)
    return (first as SecretKey).id
  })
  if (json) printJson({ id: added })
  else
    console.error(
      `Made the secret key "${added}", which seals from now on (${config.secretKeyFile}). Back the file up, then run \`ugs secret-key reseal\`.`,
    )
}

/** Whatever is wrong with the keys that there are. */
function show(key: SecretKey, json = false): void {
  if (json) {
    printJson({ id: key.id, secret_key: formatSecretKey(key) })
    return
  }
  printLine(formatSecretKey(key))
  console.error(
    'Nothing is changed. Every service has to open it before one seals with it: put it last, have all of them read it, then put it first.',
  )
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
  if (json) printJson(rows)
  else
    printTable(
      ['ID', 'STATE', 'TOKENS'],
      rows.map(({ id, state, tokens }) => [id, state, tokens]),
    )
}

async function reencrypt({ json }: JsonOption): Promise<void> {
  const config = readConfig(process.env)
  const { keyId, reencrypted, undecryptable, encryptedMeanwhile } = await withStore(async (store) => {
    const keyring = await openKeyring(config, store)
    const total = sum(await countEncryptedTokens(store))
    const bar = new ProgressBar('tokens')
    try {
      const outcome = await reencryptTokens(
        store,
        keyring,
        (done, pass) => bar.show(pass === 1 ? 're-sealing' : 'checking', done, total),
        () => secretKeyFileSettled(config),
      )
      return { keyId: keyring.sealingKeyId, ...outcome }
    } finally {
      bar.stop()
    }
  })
  if (json) {
    const rows = undecryptable.map(({ userGroup, token }) => ({
      workspace_id: userGroup.workspaceId,
      api_environment_tag: userGroup.environment,
      provided_id: userGroup.providedId,
      secret_key: token.keyId,
    }))
    printJson({ id: keyId, reencrypted, undecryptable: rows })
  } else console.error(`Sealed ${reencrypted} tokens anew, with "${keyId}".`)
  if (encryptedMeanwhile > 0)
    throw new CommandError(
      `meanwhile ${encryptedMeanwhile} tokens were sealed with another key: a process has other secret keys than these. The log of each process tells its "sealing_key_id" when it starts. Give that one these keys, or end it; or have it fail, by \`ugs secret-key retire ID --stop-sealing\`. Then run this again`,
    )
  if (undecryptable.length > 0) {
    const named = undecryptable
      .slice(0, maxNamed)
      .map(({ userGroup }) => JSON.stringify(userGroup.providedId))
      .join(', ')
    const more = undecryptable.length > maxNamed ? ' and others' : ''
    throw new CommandError(
      `${undecryptable.length} tokens cannot be opened with these keys, and are as they were: those of ${named}${more}. Put the key back that sealed them, or rotate them`,
    )
  }
}

async function retire(
  id: string,
  { json, stopSealing }: JsonOption & { stopSealing?: boolean },
): Promise<void> {
  const config = readConfig(process.env)
  const keys = readSecretKeys(config) ?? []
  await withStore(async (store) => {
    const isKnown = keys.some((key) => key.id === id)
    stopEncrypting(keys, id)
    if (!isKnown && !(await store.secretKeys.listChecks()).some(({ keyId }) => keyId === id))
      throw new CommandError(`there is no secret key "${id}"; \`ugs secret-key list\` shows those there are`)
    // Until then a service may still seal with it.
    await secretKeyFileSettled(config)
    const count = async () => (await countEncryptedTokens(store)).get(id) ?? 0
    const left = stopSealing === true ? 0 : await count()
    if (left > 0)
      throw new CommandError(
        `${left} user group tokens are sealed with "${id}": run \`ugs secret-key reseal\`. Where it was run, a process that still has "${id}" first is running; with --stop-sealing, what it seals is refused`,
      )
    // Only from here on can there be no more of them.
    await store.secretKeys.retire(id)
    const last = await count()
    if (last > 0)
      throw new CommandError(
        `nothing more is sealed with "${id}", and ${last} user group tokens are: run \`ugs secret-key reseal\`, then this again`,
      )
    await store.secretKeys.deleteCheck(id)
    if (isKnown && config.UGS_SECRET_KEYS === undefined)
      changed(config, (present) => {
        stopEncrypting(present, id)
        return present.filter((key) => key.id !== id)
      })
  })
  if (json) printJson({ id })
  else if (isStillIn(config, id)) console.error(`"${id}" is retired: take it out of UGS_SECRET_KEYS now.`)
  else console.error(`"${id}" is retired.`)
}

function stopEncrypting([first]: readonly SecretKey[], id: string): void {
  if (first?.id === id)
    throw new CommandError(`"${id}" seals; put another first, as \`ugs secret-key add\` does`)
}

function isStillIn({ UGS_SECRET_KEYS }: Config, id: string): boolean {
  return UGS_SECRET_KEYS?.some((key) => key.id === id) ?? false
}

/** The keys of the file, changed. @throws CommandError, UsageError */
function changed(config: Config, change: (keys: SecretKey[]) => SecretKey[]): SecretKey[] {
  if (config.UGS_SECRET_KEYS !== undefined)
    throw new CommandError(
      'UGS_SECRET_KEYS holds the keys, which a command cannot change; with --print it shows a new one, to be put there',
    )
  try {
    return changeSecretKeyFile(config.secretKeyFile, change)
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandError) throw error
    if (error instanceof LockedFileError)
      throw new CommandError(
        `${error.lock} is there: another command changes the keys, or was ended while it did. In that case, remove it`,
      )
    throw new CommandError(
      `${config.secretKeyFile}: cannot be changed (${errorCodeOf(error) ?? 'unknown'}); change it where it comes from, \`ugs secret-key add --print\` shows a new key`,
    )
  }
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

/** The date, and where a key has that already, with a number. */
function dateId(taken: readonly string[]): string {
  const date = new Date().toISOString().slice(0, 10)
  let id = date
  for (let number = 2; taken.includes(id); number++) id = `${date}-${number}`
  return id
}

import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, realpathSync } from 'node:fs'
import { readSecretKeys, refuseMissing, sourceOf } from '../config/secret-keys.ts'
import type { Config } from '../config/settings.ts'
import { DecryptionError, isSecretKeyId, Keyring } from '../domain/secret-key/keyring.ts'
import { writeFileWhole } from '../output-file.ts'
import { fileExists } from '../store/file-access.ts'
import { CommandError } from './errors.ts'

/** The digest is encrypted, so that only someone with a secret key can write a manifest that fits an altered backup. */
const context = 'backup'
const contextOfCheck = 'backup key'

/** The manifest of a backup is a file next to it. */
const manifestOf = (file: string) => `${file}.manifest`

/** @throws CommandError, SecretKeyError */
export function readyToSign(config: Config, file: string): Keyring {
  if (fileExists(manifestOf(file)))
    throw new CommandError(`${manifestOf(file)}: already exists; move it or use another path`)
  return keyringOf(config)
}

interface Manifest {
  readonly key_id: string
  readonly encrypted_sha256: string
  /** A constant, encrypted with the same key. It tells another key with this id from an altered manifest. */
  readonly key_check?: string
}

/** Writes the manifest: the SHA-256 of the file, encrypted with the first secret key. */
export async function signBackup(file: string, keyring: Keyring): Promise<void> {
  const digest = keyring.seal(await digestOf(file), context)
  const check = keyring.seal('', contextOfCheck)
  const manifest: Manifest = {
    key_id: digest.keyId,
    encrypted_sha256: Buffer.from(digest.sealed).toString('base64'),
    key_check: Buffer.from(check.sealed).toString('base64'),
  }
  writeFileWhole(manifestOf(file), `${JSON.stringify(manifest)}\n`, { mustBeNew: true })
}

/**
 * Verifies that the backup is as `signBackup` found it.
 * @throws CommandError if it is not, or has no manifest of one of the secret keys; SecretKeyError without keys
 */
export async function verifyBackup(config: Config, file: string): Promise<void> {
  if (!fileExists(file)) throw new CommandError(`${file}: there is no such file`)
  const path = manifestOf(file)
  if (!fileExists(path))
    throw new CommandError(`${path}: is missing, so that changes of the backup would not be noticed`)
  const keyring = keyringOf(config)
  const manifest = readManifest(path)
  const digest = openText(keyring, manifest.key_id, manifest.encrypted_sha256, context)
  if (digest === undefined) {
    const { key_id: id, key_check: check = '' } = manifest
    const isAltered = openText(keyring, id, check, contextOfCheck) !== undefined
    const problem = keyring.keyIds.includes(id) ? `is another key than that in` : 'is missing in'
    throw new CommandError(
      isAltered
        ? `${path}: was altered; use another backup`
        : `${path}: the secret key "${id}", which signed the backup, ${problem} ${sourceOf(config)}; restore that key`,
    )
  }
  if (digest !== (await digestOf(file)))
    throw new CommandError(`${file}: was altered after the backup; use another backup`)
  const log = ['-wal', '-journal'].map((ending) => realpathSync(file) + ending).find(fileExists)
  if (log !== undefined)
    throw new CommandError(`${log}: would alter the backup, because SQLite applies it; remove it`)
}

/** @throws CommandError */
function readManifest(path: string): Manifest {
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest | null
    if (typeof manifest?.encrypted_sha256 === 'string' && isSecretKeyId(manifest.key_id)) return manifest
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new CommandError(`${path}: is not a manifest of \`ugs backup\`; use another backup`)
}

/** Returns undefined if the key is missing or the text was encrypted with another one. */
function openText(keyring: Keyring, keyId: string, text: string, context: string): string | undefined {
  try {
    return keyring.open({ keyId, sealed: Buffer.from(text, 'base64') }, context)
  } catch (error) {
    if (error instanceof DecryptionError) return undefined
    throw error
  }
}

function keyringOf(config: Config): Keyring {
  return new Keyring(readSecretKeys(config) ?? refuseMissing(config))
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readFileSync, realpathSync } from 'node:fs'
import { readSecretKeys, refuseMissing } from '../config/secret-keys.ts'
import type { Config } from '../config/settings.ts'
import { Keyring } from '../domain/secret-key/keyring.ts'
import { writeFileWhole } from '../output-file.ts'
import { CommandError } from './errors.ts'

/** The digest is encrypted, so that only someone with a secret key can write a manifest that fits an altered backup. */
const context = 'backup'

/** The manifest of a backup is a file next to it. */
const manifestOf = (file: string) => `${file}.manifest`

/** @throws CommandError, SecretKeyError */
export function readyToSign(config: Config, file: string): Keyring {
  if (existsSync(manifestOf(file)))
    throw new CommandError(`${manifestOf(file)}: already exists; move it or use another path`)
  return keyringOf(config)
}

/** Writes the manifest: the SHA-256 of the file, encrypted with the first secret key. */
export async function signBackup(file: string, keyring: Keyring): Promise<void> {
  const { keyId, sealed } = keyring.seal(await digestOf(file), context)
  const manifest = { key_id: keyId, encrypted_sha256: Buffer.from(sealed).toString('base64') }
  writeFileWhole(manifestOf(file), `${JSON.stringify(manifest)}\n`, { mustBeNew: true })
}

/**
 * Verifies that the backup is as `signBackup` found it.
 * @throws CommandError if it is not, or has no manifest of one of the secret keys; SecretKeyError without keys
 */
export async function verifyBackup(config: Config, file: string): Promise<void> {
  if (!existsSync(file)) throw new CommandError(`${file}: there is no such file`)
  const path = manifestOf(file)
  if (!existsSync(path))
    throw new CommandError(`${path}: is missing, so that changes of the backup would not be noticed`)
  const keyring = keyringOf(config)
  let digest: string
  try {
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { key_id: string; encrypted_sha256: string }
    const sealed = Buffer.from(manifest.encrypted_sha256, 'base64')
    digest = keyring.open({ keyId: manifest.key_id, sealed }, context)
  } catch {
    throw new CommandError(`${path}: was not written with one of the secret keys, or was altered`)
  }
  if (digest !== (await digestOf(file)))
    throw new CommandError(`${file}: was altered after the backup; use another backup`)
  const log = ['-wal', '-journal'].map((ending) => realpathSync(file) + ending).find(existsSync)
  if (log !== undefined)
    throw new CommandError(`${log}: would alter the backup, because SQLite applies it; remove it`)
}

function keyringOf(config: Config): Keyring {
  return new Keyring(readSecretKeys(config) ?? refuseMissing(config))
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

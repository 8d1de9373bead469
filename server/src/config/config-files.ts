import { resolve } from 'node:path'
import { environments, type Environment } from '../domain/environment.ts'

/** A configuration file that the start applies. */
export interface ConfigFile {
  readonly environment: Environment
  readonly path: string
}

/** Reads `UGS_CONFIG_FILE`. @throws RangeError */
export function parseConfigFiles(text: string): readonly ConfigFile[] {
  const files = text.split(',').map((file): ConfigFile => {
    const [, name, path] = /^(?:(\w+)=)?(.+)$/.exec(file.trim()) ?? []
    const environment = environments.find((one) => one === (name ?? 'Customer'))
    if (environment === undefined || path === undefined)
      throw new RangeError(
        'must be a path, or a list such as Customer=/etc/ugs/customer.json,Testing=/etc/ugs/testing.json',
      )
    return { environment, path: resolve(path) }
  })
  if (new Set(files.map(({ environment }) => environment)).size < files.length)
    throw new RangeError('names an environment twice')
  return files
}

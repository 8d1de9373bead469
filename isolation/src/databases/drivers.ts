import { createRequire } from 'node:module'
import { join } from 'node:path'
import { UsageError } from '../errors.ts'

/** Loads the user's own driver: from the folder of the configuration, the current one, or next to this package. */
export function loadDriver(name: string, folder: string): unknown {
  for (const from of [join(folder, 'package.json'), join(process.cwd(), 'package.json'), import.meta.url]) {
    const require = createRequire(from)
    try {
      require.resolve(name)
    } catch {
      continue
    }
    return require(name)
  }
  throw new UsageError(`the driver is missing: npm install --save-dev ${name.split('/promise')[0] ?? name}`)
}

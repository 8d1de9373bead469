import { readFileSync } from 'node:fs'
import { packageFolder } from './package-folder.ts'

const manifest = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
  version: string
}

/** Version of this release. */
export const version = manifest.version

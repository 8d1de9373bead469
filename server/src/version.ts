import { readFileSync } from 'node:fs'
import { packageFolder } from './package-folder.ts'

const manifest = JSON.parse(readFileSync(new URL('package.json', packageFolder), 'utf8')) as {
  version: string
}

// A constant of the bundle (scripts/bundle.js).
const commit = process.env.BUILD_COMMIT

/** Version of this release, with the commit of a released build as SemVer build metadata: `1.0.0+0f1e2d3c`. */
export const version = commit === undefined ? manifest.version : `${manifest.version}+${commit.slice(0, 8)}`

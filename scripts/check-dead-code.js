// Finds unused files, exports and dependencies with knip.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { installPackages } from './install-packages.js'

const knip = join(installPackages('tools/checks'), 'node_modules/.bin/knip')
process.exitCode = spawnSync(knip, ['--no-progress'], { stdio: 'inherit' }).status ?? 1

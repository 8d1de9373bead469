// Runs the parts of the build whose inputs have changed: `node scripts/build-if-stale.js [service] [console] [packages]`.
import { buildIfStale } from './current-build.js'

const names = /** @type {import('./current-build.js').Part[]} */ (process.argv.slice(2))
buildIfStale(names.length === 0 ? undefined : names)

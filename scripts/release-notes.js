// Prints what CHANGELOG.md says of a version: `node scripts/release-notes.js 1.0.0`. Fails unless the packages have that version.
import { readFileSync } from 'node:fs'

const [wanted = ''] = process.argv.slice(2)
const { version } = /** @type {{ version: string }} */ (
  JSON.parse(readFileSync('server/package.json', 'utf8'))
)
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const section = sections.find((text) => /^\S+/.exec(text)?.[0] === wanted)
const problem =
  version !== wanted
    ? `the packages have the version ${version}. Run \`node scripts/set-version.js ${wanted}\` and commit, or push another tag`
    : section === undefined
      ? `CHANGELOG.md has no section "## ${wanted} (DATE)"`
      : undefined
if (problem !== undefined) {
  console.error(`release ${wanted}: ${problem}`)
  process.exitCode = 1
} else console.log(section?.slice(section.indexOf('\n')).trim())

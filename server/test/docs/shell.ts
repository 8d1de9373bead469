import { join } from 'node:path'
import { runProgram } from '../clients/program.ts'
import { ugsFile } from '../support/build-output.ts'
import { repository } from './support.ts'

const ugs = `'${process.execPath}' '${ugsFile}'`
const isolation = `'${process.execPath}' '${join(repository, 'isolation/bin/ugs-isolation.js')}'`

/** `npx ugs` and `npx ugs-isolation` of this checkout. A service ends as soon as it listens. */
const npx = `npx() {
  program=$1; shift
  if [ "$program" = ugs-isolation ]; then ${isolation} "$@"; return; fi
  if [ "$1" != serve ]; then ${ugs} "$@"; return; fi
  PORT=0 UGS_DRAIN_MS=0 ${ugs} serve >served &
  service=$!
  until grep --quiet '"origin"' served; do kill -0 $service; sleep 0.02; done
  kill $service
  wait $service
}`

/** Runs a block in a shell that stops at the first error, and returns its output. */
export function runShell(
  block: string,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  return runProgram('sh', ['-euc', [npx, `cd '${folder}'`, block].join('\n')], '', environment)
}

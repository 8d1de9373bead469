// Loaded before the service: writes down how long each commit took on SQLite, in milliseconds, when the service ends. Where
// BENCH_CHECKPOINTS is `commit`, the commits bring the log home, and no thread does.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Checkpointer } from '../../server/dist/store/sqlite/checkpointer.js'

const { BENCH_CHECKPOINTS: where, BENCH_COMMITS_FILE: file = '' } = process.env
if (where === 'commit') Checkpointer.prototype.afterCommit = () => undefined

// The driver that the service will load.
/** @type {{ prototype: { prepare: (this: unknown, sql: string) => { run: () => unknown } } }} */
const { prototype } = createRequire(import.meta.resolve('../../server/dist/'))('better-sqlite3')
/** @type {number[]} */
const times = []
const { prepare } = prototype
prototype.prepare = function (/** @type {string} */ sql) {
  const statement = prepare.call(this, sql)
  if (sql !== 'COMMIT') return statement
  const run = statement.run.bind(statement)
  statement.run = () => {
    const began = performance.now()
    const result = run()
    times.push(performance.now() - began)
    return result
  }
  return statement
}
process.on('exit', () => writeFileSync(file, JSON.stringify(times)))

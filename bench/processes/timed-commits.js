// Preloaded by the service: records the duration of each SQLite commit in milliseconds and writes them to a file at exit. With
// BENCH_CHECKPOINTS=commit, commits run the checkpoints instead of the thread.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Checkpointer } from '../../server/dist/store/sqlite/checkpointer.js'

const { BENCH_CHECKPOINTS: where, BENCH_COMMITS_FILE: file = '' } = process.env
if (where === 'commit') Checkpointer.prototype.afterCommit = () => undefined

// The same driver instance as the service's.
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

import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, relative, resolve } from 'node:path'
import { inspect } from 'node:util'

/** Collects the failed tests of a run, for the end of its output. On CI (`CI=true`) a skipped test is a failed one. */
export class FailureList {
  /** @type {string[]} */
  texts = []

  /** @param {ReturnType<typeof import('node:test').run>} tests */
  constructor(tests) {
    tests.on('test:fail', (data) => {
      const { error } = data.details
      // The subtests are in the list.
      if ('failureType' in error && error.failureType === 'subtestsFailed') return
      this.#add(data, inspect(error.cause))
    })
    tests.on('test:pass', (data) => {
      if (process.env.CI === 'true' && data.skip !== undefined)
        this.#add(data, 'skipped, which CI does not allow')
    })
  }

  /**
   * @param {{ name: string, file?: string, line?: number, column?: number }} test
   * @param {string} reason
   */
  #add({ name, file, line, column }, reason) {
    this.texts.push(`✖ ${name} (${sourceOf(file ?? '', line ?? 1, column ?? 1)})\n${reason}\n`)
  }
}

/**
 * Returns the place in the sources of a place in a compiled test file, and the store if that is not SQLite.
 * @param {string} file
 * @param {number} line
 * @param {number} column
 */
function sourceOf(file, line, column) {
  if (!existsSync(`${file}.map`)) return `${relative('', file)}:${line}`
  /** @type {import('node:module').SourceMapPayload} */
  const payload = JSON.parse(readFileSync(`${file}.map`, 'utf8'))
  const map = new SourceMap(payload)
  const entry = map.findEntry(line - 1, column - 1)
  if (!('originalSource' in entry)) return `${relative('', file)}:${line}`
  const source = relative('', resolve(dirname(file), entry.originalSource))
  const store = file.includes('/postgres/server/') ? ', on PostgreSQL' : ''
  return `${source}:${entry.originalLine + 1}${store}`
}

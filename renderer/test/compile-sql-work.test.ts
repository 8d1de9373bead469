import assert from 'node:assert/strict'
import { Session } from 'node:inspector'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { example, passing, sqlDialects } from './support.ts'

type Renderer = typeof import('../src/index.ts')

/** Loads a copy of the renderer. Code that V8 compiled before the count starts would not be counted. */
async function newRenderer(): Promise<Renderer> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  })
  return (await import(`data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`)) as Renderer
}

/** Counts the blocks of such a copy that a function executes. */
class WorkCounter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /** Counts what the function and everything since the last call executed. */
  count(run: () => void): number {
    run()
    let blocks = 0
    this.#session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const { url, functions } of result)
        if (url.startsWith('data:'))
          for (const { ranges } of functions) for (const { count } of ranges) blocks += count
    })
    return blocks
  }

  stop(): void {
    this.#session.disconnect()
  }
}

describe('the work of compileSql and checkTemplate is linear', () => {
  const own = '{{ user_group.provided_id }}'
  let counter: WorkCounter
  let renderer: Renderer
  before(async () => {
    counter = new WorkCounter()
    renderer = await newRenderer()
  })
  after(() => {
    counter.stop()
  })
  const pieces = [
    "'a',", '"a" ', '`a`,', '[a],', '/* a */ ', '-- a\n', '# a\n', '(', ')', 'a ', 'aaaaaaaaaa', '1', '$a$ $b$ $a$ ', "E'\\'' ,", '\\', '{ ',
    '} ', '}', "'", "''", '"', '/*', '*/', '-', '--', '$', '$a', '\n', '\r\n', 'in(', `{{ passed.region }} `, `a IN ({{ passed.regions }}) `, 'é', '🙂', '{{', 'a = ', 'a IN (', `a = ${own} AND `, `a IN (${own}, b, `, `a IN ((a = ${own}), `,
    `${own}, `, 'case ', 'between ', ') as ', 'a::b', '::b[1]', '.a', 'a->', `SELECT ${own} AS a, `, 'WITH a AS (', 'union select ', `a IN (${own}) OR `,
  ] // prettier-ignore
  for (const piece of pieces) {
    it(`for ${JSON.stringify(piece)}`, () => {
      const refusable = (run: () => void) => {
        try {
          run()
        } catch (error) {
          assert.ok(error instanceof renderer.TemplateError, String(error))
        }
      }
      const workOf = (length: number) => {
        // In multiples of 12, so that quotes of one, two or three characters are closed in both templates, or in none.
        const template = `SELECT ${piece.repeat(12 * Math.ceil(length / piece.length / 12))}`
        return counter.count(() => {
          for (const dialect of sqlDialects) {
            refusable(() => renderer.compileSql(template, example, { dialect, ...passing(example) }))
            refusable(() =>
              renderer.checkTemplate(template, {
                dialect,
                require: ['user_group.provided_id'],
                variables: ['passed.regions', 'passed.region'],
              }),
            )
          }
        })
      }
      workOf(100)
      const [half, whole] = [workOf(600), workOf(1200)]
      assert.ok(whole < half * 2.2, `${whole} blocks for twice the length, instead of ${half}`)
    })
  }
})

import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'node:test'
import { ESLint } from 'eslint'

const root = fileURLToPath(new URL('../../', import.meta.url))
const eslint = new ESLint({
  cwd: root,
  // Where CI=true the parser would take the text of a file from the disk, and not the one that it is given.
  overrideConfig: { languageOptions: { parserOptions: { disallowAutomaticSingleRunInference: true } } },
})

/** What the import rule says of a file of server/src that holds this line. */
async function judge(file: string, line: string): Promise<string[]> {
  const [result] = await eslint.lintText(`${line}\n`, { filePath: `${root}server/src/${file}` })
  return (result?.messages ?? [])
    .filter(
      ({ ruleId }) =>
        ruleId === '@typescript-eslint/no-restricted-imports' || ruleId === 'no-restricted-syntax',
    )
    .map(({ message }) => message)
}

describe('the import rule (docs/decisions/0001)', () => {
  const forbidden: [file: string, line: string][] = [
    ['domain/token.ts', "import '../store/open-store.ts'"],
    ['domain/token.ts', "import '../contract/schemas.ts'"],
    ['domain/token.ts', "import 'typebox'"],
    ['domain/token.ts', "await import('../store/open-store.ts')"],
    ['contract/schemas.ts', "import '../http/answer.ts'"],
    ['contract/schemas.ts', "import 'fastify'"],
    ['store/open-store.ts', "import '../http/answer.ts'"],
    ['store/sqlite/sqlite-store.ts', "import '../../contract/schemas.ts'"],
    ['store/sqlite/sqlite-store.ts', "import '../../config.ts'"],
    ['http/answer.ts', "import '../store/open-store.ts'"],
    ['http/answer.ts', "import 'better-sqlite3'"],
    ['http/answer.ts', "import '../config.ts'"],
    ['app.ts', "import './store/open-store.ts'"],
    ['app.ts', "import './config.ts'"],
    ['main.ts', "import './cli/program.ts'"],
    ['config.ts', "import { openStore } from './store/open-store.ts'"],
    ['cli/program.ts', "import '../http/answer.ts'"],
    ['cli/program.ts', "import '../app.ts'"],
    ['cli/program.ts', "import 'fastify'"],
  ]
  for (const [file, line] of forbidden) {
    it(`forbids in ${file}: ${line}`, async () => {
      assert.equal((await judge(file, line)).length, 1)
    })
  }

  const allowed: [file: string, line: string][] = [
    ['domain/token.ts', "import 'node:crypto'"],
    ['domain/token.ts', "import './fault.ts'"],
    ['contract/schemas.ts', "import 'typebox'"],
    ['store/sqlite/sqlite-store.ts', "import 'better-sqlite3'"],
    ['store/sqlite/sqlite-store.ts', "import '../../domain/store.ts'"],
    ['http/answer.ts', "import '../contract/errors.ts'"],
    ['config.ts', "import type { StoreLocation } from './store/open-store.ts'"],
    ['main.ts', "import './app.ts'"],
    ['cli/program.ts', "import '../main.ts'"],
  ]
  for (const [file, line] of allowed) {
    it(`allows in ${file}: ${line}`, async () => {
      assert.deepEqual(await judge(file, line), [])
    })
  }
})

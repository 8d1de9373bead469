import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'node:test'
import { ESLint } from 'eslint'
import tseslint from 'typescript-eslint'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const eslint = new ESLint({
  cwd: root,
  // The import rule needs no types, and loading them takes a minute.
  overrideConfig: [
    tseslint.configs.disableTypeChecked,
    { languageOptions: { parserOptions: { project: null } } },
  ],
})

/** Returns the messages of the import rule about a file of server/src with this line. */
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
    ['domain/fault.ts', "import '../../store/open-store.ts'"],
    ['domain/fault.ts', "import '../../contract/limits.ts'"],
    ['domain/fault.ts', "import 'typebox'"],
    ['domain/fault.ts', "await import('../../store/open-store.ts')"],
    ['contract/limits.ts', "import '../../http/response.ts'"],
    ['contract/limits.ts', "import 'fastify'"],
    ['store/open-store.ts', "import '../../http/response.ts'"],
    ['store/sqlite/sqlite-store.ts', "import '../../../contract/limits.ts'"],
    ['store/sqlite/sqlite-store.ts', "import '../../../config/settings.ts'"],
    ['http/response.ts', "import '../../store/open-store.ts'"],
    ['http/response.ts', "import 'better-sqlite3'"],
    ['http/response.ts', "import '../../config/settings.ts'"],
    ['app.ts', "import '../store/open-store.ts'"],
    ['app.ts', "import '../config/settings.ts'"],
    ['runtime/service.ts', "import '../../cli/program.ts'"],
    ['observability/traces.ts', "import { openStore } from '../../store/open-store.ts'"],
    ['cli/program.ts', "import '../../http/response.ts'"],
    ['cli/program.ts', "import '../../app.ts'"],
    ['cli/program.ts', "import 'fastify'"],
  ]
  for (const [file, line] of forbidden) {
    it(`forbids in ${file}: ${line}`, async () => {
      assert.equal((await judge(file, line)).length, 1)
    })
  }

  const allowed: [file: string, line: string][] = [
    ['domain/fault.ts', "import 'node:crypto'"],
    ['domain/fault.ts', "import '../fault.ts'"],
    ['contract/limits.ts', "import 'typebox'"],
    ['store/sqlite/sqlite-store.ts', "import 'better-sqlite3'"],
    ['store/sqlite/sqlite-store.ts', "import '../../../domain/store.ts'"],
    ['http/response.ts', "import '../../contract/errors.ts'"],
    ['observability/traces.ts', "import type { StoreLocation } from '../../store/open-store.ts'"],
    ['runtime/service.ts', "import '../../app.ts'"],
    ['cli/program.ts', "import '../../runtime/service.ts'"],
    ['cli/program.ts', "import '../../http/admin/operations.ts'"],
  ]
  for (const [file, line] of allowed) {
    it(`allows in ${file}: ${line}`, async () => {
      assert.deepEqual(await judge(file, line), [])
    })
  }
})

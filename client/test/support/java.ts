import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { javaTool, shortRun } from '../../../server/test/clients/go-and-java.ts'
import { builtOnce } from './built-once.ts'
import type { Language } from './language.ts'

export const javaFolder = fileURLToPath(new URL('../../../clients/java/', import.meta.url))

export const java: Language = {
  name: 'Java',
  tool: javaTool,
  hasManagement: false,
  variants: [{ suffix: '', isAsync: false }],
  adapter: (command) => ({
    program: command,
    args: [...shortRun, '-cp', compileJava(), 'usergroupservice.Adapter'],
    env: { PATH: process.env.PATH },
  }),
}

/** Compiles the client and its tests. Returns the folder of the classes. */
function compileJava(): string {
  return builtOnce(javaFolder, (target) => {
    const sources = readdirSync(javaFolder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.java'))
      .map((file) => join(javaFolder, file))
    const compiler = shortRun.map((option) => `-J${option}`)
    const options = [
      ...compiler,
      '--release',
      '17',
      '-encoding',
      'UTF-8',
      '-Xlint:all,-serial',
      '-Werror',
      '-d',
      target,
    ]
    execFileSync('javac', [...options, ...sources], { stdio: 'pipe' })
  })
}

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { goTool } from '../../../server/test/clients/go-and-java.ts'
import type { Language } from './language.ts'
import { builtOnce } from './built-once.ts'

export const goFolder = fileURLToPath(new URL('../../../clients/go/', import.meta.url))

export const go: Language = {
  name: 'Go',
  tool: goTool,
  hasManagement: false,
  variants: [{ suffix: '', isAsync: false }],
  adapter: (command) => {
    const folder = builtOnce(goFolder, (target) =>
      execFileSync(command, ['test', '-c', '-o', join(target, 'adapter')], { cwd: goFolder, stdio: 'pipe' }),
    )
    return { program: join(folder, 'adapter'), args: [], env: { PATH: process.env.PATH, ADAPTER: '1' } }
  },
}

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Language } from './language.ts'

export const pythonFolder = fileURLToPath(new URL('../../../clients/python/', import.meta.url))

/** Environment of Python programs, without this machine's settings of Python and of proxies. */
export const pythonEnvironment = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  PYTHONUTF8: '1',
  PYTHONDONTWRITEBYTECODE: '1',
}

export const python: Language = {
  name: 'Python',
  tool: {
    name: 'Python 3.9 or newer',
    hint: 'apt-get install python3',
    // The second is the one of the system, if another Python is first in the path.
    commands: ['python3', '/usr/bin/python3'],
    probe: ['-c', 'import sys; assert sys.version_info >= (3, 9)'],
  },
  hasManagement: true,
  variants: [
    { suffix: '', isAsync: false },
    { suffix: ' with asyncio', isAsync: true },
  ],
  adapter: (command) => ({
    program: command,
    args: [join(pythonFolder, 'tests/adapter.py')],
    env: { ...pythonEnvironment, PYTHONPATH: join(pythonFolder, 'src') },
  }),
}

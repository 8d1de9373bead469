import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { errorTable } from '../../server/src/contract/errors.ts'
import { createApiToken } from '../../server/test/support/command.ts'
import { startService, temporaryFolder } from '../../server/test/support/service.ts'
import { findTool, type Tool } from '../../server/test/support/tool.ts'
import { pythonEnvironment, pythonFolder } from './support/python.ts'

const buildTool: Tool = {
  name: 'Python 3.9 or newer with pip, setuptools and wheel',
  hint: 'apt-get install python3-pip',
  commands: ['python3', '/usr/bin/python3'],
  probe: ['-c', 'import setuptools, pip, sys, venv, wheel; assert sys.version_info >= (3, 9)'],
}

const mypy: Tool = {
  name: 'mypy',
  hint: 'apt-get install mypy',
  commands: ['mypy'],
  probe: ['--version'],
}

/** Runs a program in a folder and returns its standard output. */
async function run(command: string, args: readonly string[], folder: string, environment = {}) {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd: folder,
    env: { ...pythonEnvironment, ...environment },
  })
  return stdout
}

const readme = readFileSync(join(pythonFolder, 'README.md'), 'utf8')
const name = 'Python wheel'
const systemPython = findTool({ name, skip: () => undefined }, buildTool)

describe(name, { skip: systemPython === undefined }, () => {
  const folder = temporaryFolder({ after })
  /** Python of a clean virtual environment with only the wheel. */
  const python = join(folder, 'environment/bin/python')
  const inEnvironment = (...args: readonly string[]) => run(python, args, folder)

  before(async () => {
    assert.ok(systemPython)
    // The build writes to the folder of the sources.
    const source = join(folder, 'source')
    cpSync(pythonFolder, source, { recursive: true })
    const pip = (...args: readonly string[]) => run(systemPython, ['-m', 'pip', '--quiet', ...args], folder)
    await Promise.all([
      pip('wheel', '--no-index', '--no-deps', '--no-build-isolation', '--wheel-dir', 'wheels', source),
      run(systemPython, ['-m', 'venv', '--without-pip', 'environment'], folder),
    ])
    const wheels = readdirSync(join(folder, 'wheels'))
    assert.equal(wheels.length, 1)
    await pip('--python', python, 'install', '--no-index', ...wheels.map((wheel) => join('wheels', wheel)))
  })

  it('has every module, the marker of its types, the license and no dependencies', async () => {
    const program = `import json
from importlib.metadata import distributions
print(json.dumps([[[str(file) for file in package.files], package.requires] for package in distributions()]))`
    const packages = JSON.parse(await inEnvironment('-c', program)) as [string[], unknown][]
    assert.equal(packages.length, 1)
    const [[files, requirements]] = packages as [[string[], unknown]]
    const modules = readdirSync(join(pythonFolder, 'src/user_group_service')).filter((file) =>
      file.includes('.'),
    )
    assert.deepEqual(
      files.filter((file) => /^user_group_service\/[^/]+$/.test(file)).sort(),
      modules.map((module) => `user_group_service/${module}`).sort(),
    )
    assert.ok(modules.includes('py.typed') && files.some((file) => file.endsWith('/LICENSE')))
    assert.equal(requirements, null)
  })

  it('passes its tests', async () => {
    await inEnvironment('-W', 'error', join(pythonFolder, 'tests/test_client.py'))
  })

  it('runs the programs of the README', async (t) => {
    const service = await startService(t)
    const { origin, tokens } = service
    const programs = [...readme.matchAll(/^```python\n([^]*?)^```/gm)].map(([, program = '']) => program)
    assert.equal(programs.length, 8)
    const program = [
      ...programs.map((program) => program.replace('http://127.0.0.1:8080', origin)),
      'print(repr(updated), rotated.environment)',
      'print(suspend(found), suspend(found))',
      'print(rename("customer-42", "Renamed"), rename("nobody", "Renamed"), rename("customer-42", ""))',
    ].join('\n')
    writeFileSync(join(folder, 'backend.py'), program)
    const environment = {
      UGS_API_TOKEN: tokens.Testing,
      UGS_ADMIN_TOKEN: await createApiToken(service, 'Testing', '--scopes', 'admin'),
    }
    const lines = (await run(python, ['-W', 'error', 'backend.py'], folder, environment)).trim().split('\n')
    assert.match(lines[0] ?? '', /^True ey[\w.-]+$/)
    assert.match(lines[1] ?? '', /^ugt_testing_\w+$/)
    assert.deepEqual(lines.slice(2), [
      "['Example customer']",
      'True',
      'customer-42: 40 is 213, which is not registered',
      "UpdatedUserGroup(team_id=1, name='Example customer', provided_id='customer-42', " +
        "properties={'region': 'EU', 'plan': 'gold'}, environment='Testing') Testing",
      'True changed meanwhile',
      "renamed not found ['/name must have 1 to 255 characters']",
    ])
  })

  it('has a type for every error code', async () => {
    const program = `import json, typing, user_group_service as u
print(json.dumps([typing.get_args(u.ErrorCode), typing.get_args(u.TransportErrorCode)]))`
    const [codes, transportCodes] = JSON.parse(await inEnvironment('-c', program)) as [string[], string[]]
    assert.deepEqual(codes.toSorted(), Object.keys(errorTable).sort())
    const [, table = ''] = readme.split('A `TransportError` means')
    const rows = [...(table.split('\n\n')[1] ?? '').matchAll(/^\| `(\w+)` .*\|/gm)].slice(1)
    assert.deepEqual(
      rows.map(([, code]) => code),
      transportCodes,
    )
  })

  it('passes the type checker', async (t) => {
    const command = findTool(t, mypy)
    if (command === undefined) return
    const files = ['src', 'tests/test_client.py', 'tests/type_cases.py']
    await run(command, ['--cache-dir', join(folder, 'types'), ...files], pythonFolder)
  })
})

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Debian's folder of PostgreSQL's programs, with one folder per version. */
const debianFolder = '/usr/lib/postgresql'

/** PostgreSQL's programs and the user that runs them. */
export interface Programs {
  readonly folder: string
  /** The package's user, because PostgreSQL refuses to run as root. */
  readonly user: { readonly uid?: number; readonly gid?: number }
}

/** @throws Error that names the package to install */
export function findPrograms(): Programs {
  const versions = existsSync(debianFolder)
    ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a))
    : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debianFolder, version, 'bin')),
  ]
  const folder = folders.find((folder) =>
    ['initdb', 'postgres', 'pg_basebackup'].every((program) => existsSync(join(folder, program))),
  )
  if (folder === undefined) {
    throw new Error(
      `initdb, postgres and pg_basebackup are neither on the PATH nor under ${debianFolder}: install the Debian package postgresql`,
    )
  }
  return programsIn(folder)
}

export function programsIn(folder: string): Programs {
  return { folder, user: process.getuid?.() === 0 ? idsOf('postgres') : {} }
}

function idsOf(name: string): { uid: number; gid: number } {
  const id = (option: string) => Number(execFileSync('id', [option, name], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

export async function runProgram(
  { folder, user }: Programs,
  cwd: string,
  program: string,
  args: readonly string[],
): Promise<void> {
  // The environment may name another PostgreSQL server or another language.
  await run(join(folder, program), args, { cwd, env: { LC_ALL: 'C' }, ...user })
}

/** Returns the child processes, without zombies. */
export async function childrenOf(parent: number): Promise<number[]> {
  return (await runningProcesses()).flatMap(({ pid, parentPid }) => (parentPid === parent ? [pid] : []))
}

export async function isAnyRunning(pids: readonly number[]): Promise<boolean> {
  return (await runningProcesses()).some(({ pid }) => pids.includes(pid))
}

async function runningProcesses(): Promise<{ pid: number; parentPid: number }[]> {
  // Asynchronously, because the clients must have requests in flight when PostgreSQL is killed.
  const { stdout } = await run('ps', ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'stat='])
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ +/))
    .filter(([, , state = '']) => !state.startsWith('Z'))
    .map(([pid, parentPid]) => ({ pid: Number(pid), parentPid: Number(parentPid) }))
}

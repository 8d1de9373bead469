import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Runs Node.js in a folder and returns its standard output. */
export async function runNode(
  args: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...environment },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  assert.equal(code, 0, stdout + stderr)
  return stdout
}

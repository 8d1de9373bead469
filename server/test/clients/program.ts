import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/**
 * Runs a program to its end and returns its standard output. It gets only PATH and HOME of this environment, because a proxy
 * setting must not affect it.
 * @throws Error with its output if it fails
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  stdin = '',
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { PATH, HOME } = process.env
  const child = spawn(command, args, { env: { PATH, HOME, ...environment } })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', reject)
  })
  // The program may end without reading its input.
  child.stdin.on('error', () => undefined).end(stdin)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}${stdout}`)
  return stdout
}

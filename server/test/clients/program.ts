import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/**
 * Runs a program to its end and returns what it wrote. Of this machine's environment it gets only what finds programs:
 * a proxy that is set there must not come between client and service.
 * @throws Error with what it wrote to standard error, where it fails.
 */
export async function runProgram(command: string, args: readonly string[], stdin = ''): Promise<string> {
  const child = spawn(command, args, { env: { PATH: process.env.PATH, HOME: process.env.HOME } })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('close', resolve)
    child.on('error', reject)
  })
  // A program may end without reading it.
  child.stdin.on('error', () => undefined).end(stdin)
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${stderr}`)
  return stdout
}

import assert from 'node:assert/strict'
import type { RunningService } from './service.ts'

/** A user group as `ugs user-group show` prints it, with its mapping. */
export interface ShownUserGroup {
  readonly name: string
  readonly mapping: Record<string, string> | null
  readonly properties: Record<string, unknown> | null
  readonly updated_at: string
}

type Commands = Pick<RunningService, 'ugs'>

/** Runs a command that must succeed, and returns its standard output. */
export async function runCommand({ ugs }: Commands, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await ugs(...args)
  assert.equal(code, 0, stderr)
  return stdout
}

export async function showUserGroup(
  service: Commands,
  id: string,
  environment: 'Customer' | 'Testing' = 'Testing',
): Promise<ShownUserGroup> {
  const json = await runCommand(service, 'user-group', 'show', id, '--environment', environment, '--json')
  return JSON.parse(json) as ShownUserGroup
}

/** Creates an API token and returns it. */
export async function createApiToken(
  service: Commands,
  environment: 'Customer' | 'Testing',
  ...options: string[]
): Promise<string> {
  const args = ['api-token', 'create', '--environment', environment, '--name', 'test', ...options]
  return (await runCommand(service, ...args)).trim()
}

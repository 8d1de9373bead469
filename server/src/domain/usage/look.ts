import { hash } from 'node:crypto'
import type { TenantScope } from '../tenant-scope.ts'
import type { UserGroupLocation } from '../user-group/location.ts'

/** Modes of recording usage: nothing, the user groups that looked, or also their viewers. */
export const usageModes = ['off', 'user_groups', 'viewers'] as const

export type UsageMode = (typeof usageModes)[number]

/** Stands for viewers and resources that are not recorded by name. */
export const others = '(more)'

/** Maximum length of a recorded name, in code points. */
const maxNameLength = 255

/** Someone of a user group looks at a resource, for example a dashboard. */
export interface Look extends TenantScope, UserGroupLocation {
  /** Empty if the viewer is unknown. */
  readonly viewerId: string
  /** Empty if the resource is unknown. */
  readonly resource: string
  /** The team id, or a number above all team ids if the viewer or the resource is known. Differs for different looks. */
  readonly id: number
}

/** Makes a look as the mode records it: without what it leaves out. */
export function lookOf(
  mode: UsageMode,
  { workspaceId, environment }: TenantScope,
  { bucket, teamId }: UserGroupLocation,
  seen: { readonly viewerId: string; readonly resource: string },
): Look {
  const viewerId = mode === 'viewers' ? recorded(seen.viewerId) : ''
  const resource = mode === 'off' ? '' : recorded(seen.resource)
  const id = viewerId === '' && resource === '' ? teamId : largeId(`${teamId}\0${viewerId}\0${resource}`)
  return { workspaceId, environment, bucket, teamId, viewerId, resource, id }
}

/** PostgreSQL stores no U+0000. */
function recorded(name: string): string {
  const isTooLong = name.length > maxNameLength && Array.from(name).length > maxNameLength
  return isTooLong || name.includes('\0') ? others : name
}

/** Returns 52 bits of a hash, above all team ids that occur. */
export function largeId(text: string): number {
  return 2 ** 52 + parseInt(hash('sha256', text, 'hex').slice(0, 13), 16)
}

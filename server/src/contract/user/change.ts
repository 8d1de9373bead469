import { validationFailed, type FieldFault } from '../../domain/fault.ts'
import type { UserGroupChange } from '../../domain/user-group/user-group.ts'
import type { JsonMember } from '../json/json-scan.ts'
import type { JsonDocument } from '../json/strict-json.ts'
import { limits } from '../limits.ts'
import type { UserGroupBody } from './schemas.ts'

/**
 * Returns the change of name, mapping and properties in a body that passed its schema.
 * @throws Fault `validation_failed`
 */
export function readChange(document: JsonDocument): UserGroupChange {
  const faults = faultsOfProperties(document)
  if (faults.length > 0) throw validationFailed(faults)
  return changeIn(document)
}

/** Returns the change of a body whose `properties` have no faults. */
export function changeIn({ value, members }: JsonDocument): UserGroupChange {
  const { name, mapping, properties: propertiesValue } = value as Omit<UserGroupBody, 'user_group_id'>
  const properties = members.get('properties')
  const change: Writable<UserGroupChange> = {}
  if (name !== undefined) change.name = name
  if (mapping !== undefined) change.mapping = mappingText(mapping, members.get('mapping'))
  if (properties !== undefined) change.properties = propertiesValue === null ? null : properties.text
  return change
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/** Returns the mapping to store. An empty mapping means null (contract, `/api/user`). */
function mappingText(value: Record<string, string> | null, member: JsonMember | undefined): string | null {
  return value === null || Object.keys(value).length === 0 ? null : (member?.text ?? null)
}

/** Checks the limits on `properties` that a schema cannot express. */
export function faultsOfProperties({ members }: JsonDocument): readonly FieldFault[] {
  const properties = members.get('properties')
  if (properties === undefined) return []
  const { depth, nulPointer, bytes } = properties
  const fault = (message: string, path = '/properties') => [{ path, message }]
  if (depth > limits.propertiesDepth) return fault(`must be at most ${limits.propertiesDepth} levels deep`)
  if (nulPointer !== null) return fault('must not have U+0000 in a key or a string', nulPointer)
  if (bytes > limits.propertiesBytes) {
    return fault(`must be at most ${limits.propertiesBytes} bytes (64 KiB) as compact JSON in UTF-8`)
  }
  return []
}

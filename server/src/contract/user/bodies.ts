import { hash } from 'node:crypto'
import { validationFailed, type FieldFault } from '../../domain/fault.ts'
import type { UserGroupChange } from '../../domain/user-group/user-group.ts'
import type { RotationRequest, UserGroupRequest } from '../../domain/user-group/user-group-service.ts'
import { limits } from '../limits.ts'
import { RotationBody, UserGroupBody } from './schemas.ts'
import { readStrictJson, type JsonDocument, type JsonMember } from '../json/strict-json.ts'
import { compileValidator, type Validator } from '../validator.ts'

const validateUserGroupBody: Validator<UserGroupBody> = compileValidator(UserGroupBody)
const validateRotationBody: Validator<RotationBody> = compileValidator(RotationBody)

/**
 * Reads the body of a get-or-create or an update (specification 2.2).
 * @throws Fault `malformed_json`, `validation_failed`
 */
export function readUserGroupBody(bytes: Buffer): UserGroupRequest {
  return readUserGroup(readStrictJson(bytes))
}

/** @throws Fault `validation_failed` */
export function readUserGroup(document: JsonDocument): UserGroupRequest {
  const { value } = document
  validateUserGroupBody(value, faultsOfProperties(document))
  return { providedId: value.user_group_id, change: changeIn(document) }
}

/**
 * Returns the change of name, mapping and properties in a body that passed its schema.
 * @throws Fault `validation_failed`
 */
export function readChange(document: JsonDocument): UserGroupChange {
  const faults = faultsOfProperties(document)
  if (faults.length > 0) throw validationFailed(faults)
  return changeIn(document)
}

function changeIn({ value, members }: JsonDocument): UserGroupChange {
  const { name, mapping, properties: propertiesValue } = value as Omit<UserGroupBody, 'user_group_id'>
  const properties = members.get('properties')
  const change: Writable<UserGroupChange> = {}
  if (name !== undefined) change.name = name
  if (mapping !== undefined) change.mapping = mappingText(mapping, members.get('mapping'))
  if (properties !== undefined) change.properties = propertiesValue === null ? null : properties.text
  return change
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }

/**
 * Reads the body of a rotation (specification 2.3, contract POST).
 * @throws Fault `malformed_json`, `validation_failed`
 */
export function readRotationBody(bytes: Buffer): Omit<RotationRequest, 'idempotency'> & BodyFingerprint {
  const { value, members } = readStrictJson(bytes)
  if (members.has('user_group_id') && !members.has('current_token')) throw validationFailed([getSentAsPost])
  validateRotationBody(value)
  const { current_token, grace_period_seconds } = value
  return {
    target: { currentToken: current_token },
    gracePeriodSeconds: grace_period_seconds ?? 0,
    fingerprint: hash('sha256', JSON.stringify([current_token, grace_period_seconds]), 'buffer'),
  }
}

const getSentAsPost: FieldFault = {
  path: '/current_token',
  message:
    'is required to rotate a token. The body has user_group_id instead: some clients turn a GET with a body into a POST, such as curl without -X GET. ' +
    'Send the header X-HTTP-Method-Override: GET, or POST to /api/user/get-or-create',
}

interface BodyFingerprint {
  /** Equal for bodies with the same JSON value, regardless of white space and the order of members. */
  readonly fingerprint: Uint8Array
}

/** Returns the mapping to store. An empty mapping means null (contract, `/api/user`). */
function mappingText(value: Record<string, string> | null, member: JsonMember | undefined): string | null {
  return value === null || Object.keys(value).length === 0 ? null : (member?.text ?? null)
}

/** Checks the limits on `properties` that a schema cannot express. */
function faultsOfProperties({ members }: JsonDocument): readonly FieldFault[] {
  const properties = members.get('properties')
  if (properties === undefined) return []
  const { text, depth, nulPointer, excessBytes } = properties
  const fault = (message: string, path = '/properties') => [{ path, message }]
  if (depth > limits.propertiesDepth) return fault(`must be at most ${limits.propertiesDepth} levels deep`)
  if (nulPointer !== null) return fault('must not have U+0000 in a key or a string', nulPointer)
  if (Buffer.byteLength(text) - excessBytes > limits.propertiesBytes) {
    return fault(`must be at most ${limits.propertiesBytes} bytes (64 KiB) as compact JSON in UTF-8`)
  }
  return []
}

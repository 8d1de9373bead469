import { hash } from 'node:crypto'
import { Fault, validationFailed, type FieldFault } from '../../domain/fault.ts'
import type { RotationRequest, UserGroupRequest } from '../../domain/user-group/user-group-service.ts'
import { changeIn, faultsOfProperties } from './change.ts'
import { RotationBody, UserGroupBody } from './schemas.ts'
import { readStrictJson, type JsonDocument } from '../json/strict-json.ts'
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
 * Reads the body of a rotation (specification 2.3, contract POST).
 * @throws Fault `malformed_json`, `validation_failed`
 */
export function readRotationBody(bytes: Buffer): Omit<RotationRequest, 'idempotency'> & BodyFingerprint {
  const { value, members } = readRotationJson(bytes)
  if (members.has('user_group_id') && !members.has('current_token')) throw validationFailed([getSentAsPost])
  validateRotationBody(value)
  const { current_token, grace_period_seconds } = value
  return {
    target: { currentToken: current_token },
    gracePeriodSeconds: grace_period_seconds ?? 0,
    fingerprint: hash('sha256', JSON.stringify([current_token, grace_period_seconds]), 'buffer'),
  }
}

/** Reads a body, of which one beyond a limit is not read to its end, so that its fields are not known. */
function readRotationJson(bytes: Buffer): JsonDocument {
  try {
    return readStrictJson(bytes)
  } catch (error) {
    const isBeyondLimit = error instanceof Fault && error.code === 'validation_failed'
    if (!isBeyondLimit || !bytes.includes('"user_group_id"') || bytes.includes('"current_token"')) throw error
    throw validationFailed([getSentAsPost, ...error.fields])
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

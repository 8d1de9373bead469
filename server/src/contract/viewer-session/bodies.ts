import { validationFailed, type FieldFault } from '../../domain/fault.ts'
import { shownPointer } from '../../domain/json/json-pointer.ts'
import { Cache } from '../../domain/util/cache.ts'
import type { SessionRequest } from '../../domain/viewer-session/viewer-session.ts'
import { readStrictJson, type JsonDocument } from '../json/strict-json.ts'
import { compileValidator, type Validator } from '../validator.ts'
import { CreateSessionBody, EndSessionsBody } from './schemas.ts'

const validateCreateSession: Validator<CreateSessionBody> = compileValidator(CreateSessionBody)
const validateEndSessions: Validator<EndSessionsBody> = compileValidator(EndSessionsBody)

const defaultLifetimeSeconds = 900
/** With content that no introspection updates. */
const maxLifetimeOfContentSeconds = 3600
/** Maximum size of the viewer's properties and of the claims as compact JSON, in bytes. */
const maxObjectBytes = 2 * 1024
/** Maximum nesting depth of the viewer's properties. */
const maxPropertiesDepth = 8
/** Maximum size of a narrowing. A larger one does not fit a token. */
const maxNarrowBytes = 6 * 1024

/** Claims that the service sets. */
const reservedClaims = [
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'team_id',
  'viewer_id',
  'viewer',
  'narrow',
  'resources',
  'name',
  'properties',
]

/** @throws Fault `malformed_json`, `validation_failed` */
export function readCreateSessionBody(bytes: Buffer): SessionRequest {
  const document = readStrictJson(bytes)
  const { value, members } = document
  validateCreateSession(value)
  const faults = faultsOf(value, document)
  if (faults.length > 0) throw validationFailed(faults)
  const { user_group_id: providedId, viewer, narrow, resources, audience, include, claims } = value
  return {
    providedId,
    viewerId: viewer.id,
    viewer: members.get('viewer')?.text ?? '',
    ...(narrow !== undefined && { narrow }),
    ...(resources !== undefined && { resources }),
    expiresInSeconds: value.expires_in_seconds ?? defaultLifetimeSeconds,
    ...(audience !== undefined && { audience }),
    ...(include !== undefined && { include }),
    ...(claims !== undefined && { claims: members.get('claims')?.text ?? '' }),
  }
}

/** @throws Fault `malformed_json`, `validation_failed` */
export function readEndSessionsBody(bytes: Buffer): EndSessionsBody {
  const { value } = readStrictJson(bytes)
  validateEndSessions(value)
  return value
}

/** Checks the rules that a schema cannot express. */
function faultsOf(body: CreateSessionBody, { members }: JsonDocument): FieldFault[] {
  const { viewer, include, claims = {}, expires_in_seconds = 0 } = body
  const { depth = 0, nulPointer = null } = members.get('viewer') ?? {}
  const faults: FieldFault[] = []
  const check = (isValid: boolean, path: string, message: string) => {
    if (!isValid) faults.push({ path, message })
  }
  const isSmall = (value: unknown, maxBytes: number) => Buffer.byteLength(JSON.stringify(value)) <= maxBytes
  const ofProperties = '/viewer/properties'
  check(depth - 1 <= maxPropertiesDepth, ofProperties, `must be at most ${maxPropertiesDepth} levels deep`)
  check(nulPointer === null, nulPointer ?? '', 'must not have U+0000 in a key or a string')
  const tooLarge = `must be at most ${maxObjectBytes} bytes (2 KiB) as compact JSON in UTF-8`
  check(isSmall(viewer.properties ?? {}, maxObjectBytes), ofProperties, tooLarge)
  check(isSmall(claims, maxObjectBytes), '/claims', tooLarge)
  check(
    isSmall(body.narrow ?? {}, maxNarrowBytes),
    '/narrow',
    `must be at most ${maxNarrowBytes} bytes (6 KiB)`,
  )
  check(
    viewer.time_zone === undefined || isTimeZone(viewer.time_zone),
    '/viewer/time_zone',
    'must be a name of the IANA time zone database, such as Europe/Berlin',
  )
  check(
    viewer.locale === undefined || isLocale(viewer.locale),
    '/viewer/locale',
    'must be a language tag (BCP 47), such as de-DE',
  )
  for (const name of reservedClaims) {
    check(!Object.hasOwn(claims, name), shownPointer(['claims', name]), 'is a claim that the service sets')
  }
  check(
    (include ?? body.claims) === undefined || expires_in_seconds <= maxLifetimeOfContentSeconds,
    '/expires_in_seconds',
    `must be at most ${maxLifetimeOfContentSeconds} with include or claims, which stay in the token until it expires`,
  )
  return faults
}

/** Names of time zones that have been checked, which takes 50 µs. */
const timeZones = new Cache<boolean>(1000)

function isTimeZone(name: string): boolean {
  // Node.js 22 also accepts offsets.
  if (!/^[a-z]/i.test(name) || name.length > 100) return false
  const known = timeZones.get(name)
  if (known !== undefined) return known
  const isKnown = succeeds(() => new Intl.DateTimeFormat('en', { timeZone: name }))
  timeZones.set(name, isKnown)
  return isKnown
}

function isLocale(tag: string): boolean {
  return tag.length <= 100 && succeeds(() => Intl.getCanonicalLocales(tag))
}

function succeeds(action: () => unknown): boolean {
  try {
    action()
    return true
  } catch {
    return false
  }
}

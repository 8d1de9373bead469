import { actorOf, type Caller } from '../caller.ts'
import { Fault, validationFailed } from '../fault.ts'
import { shownPointer } from '../json/json-pointer.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { randomBase62 } from '../token/token.ts'
import { bucketOf } from '../user-group/location.ts'
import { revisionMismatch, userGroupNotFound } from '../user-group/user-group-service.ts'
import type { EndSessionsOutcome, ExpectedUserGroup } from '../user-group/user-group-store.ts'
import type { TokenlessUserGroup, UserGroup } from '../user-group/user-group.ts'
import { Cache } from '../util/cache.ts'
import type { Clock } from '../util/clock.ts'
import { endedSubject, type SessionSubject } from './ended-session.ts'
import { readJwt, signJwt } from './jwt.ts'
import { keySetPathOf } from './signing-key.ts'
import type { SigningKeys } from './signing-keys.ts'
import {
  faultsOfNarrowing,
  issuedNarrowing,
  maxClockSkewSeconds,
  maxTokenBytes,
  narrowed,
  narrowedProperties,
  objectIn,
  type SessionClaims,
  type SessionRequest,
  type SessionView,
} from './viewer-session.ts'

/** Number of random characters of a session's id: 71 bits. */
const sessionIdLength = 12
/** Lifetime of a session in which an operator sees what a user group sees, in seconds. */
const viewAsSeconds = 300
/** Maximum number of verified tokens in memory. */
const cacheSize = 10_000

interface Parts {
  readonly store: Pick<Store, 'userGroups' | 'viewerSessions'>
  readonly keys: SigningKeys
  readonly clock: Pick<Clock, 'now'>
  /** `UGS_PUBLIC_URL`, without a slash at its end. */
  readonly publicUrl: string | null
  /** `UGS_DASHBOARD_URL`: the page that shows dashboards, with `{session}` for the token. */
  readonly dashboardUrl?: string | undefined
}

export interface CreatedSession {
  readonly userGroup: UserGroup
  readonly token: string
  readonly sessionId: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

/** The owner of a leaked session. */
export interface LeakedSession {
  readonly kind: 'viewer_session'
  /** True if it was active at the time of the request. */
  readonly works: boolean
  readonly userGroup: TokenlessUserGroup
  readonly viewerId: string
  readonly sessionId: string
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
  /** True if this request ended the sessions of the viewer. */
  readonly ended: boolean
}

/** A token whose signature is valid. */
interface VerifiedSession {
  readonly signingKeyId: string
  readonly claims: SessionClaims
}

/** Viewer sessions: short-lived tokens that say who looks. What they show is read from the user group at each introspection. */
export class ViewerSessions {
  readonly keys: SigningKeys
  readonly #parts: Omit<Parts, 'keys'>
  readonly #verified = new Cache<VerifiedSession>(cacheSize)

  constructor({ keys, ...parts }: Parts) {
    this.keys = keys
    this.#parts = parts
  }

  /**
   * Creates a session, and stores nothing about it.
   * @throws Fault `user_group_not_found`, `validation_failed`, `unavailable`
   */
  async create(caller: Caller, request: SessionRequest): Promise<CreatedSession> {
    const { workspaceId, environment } = caller
    const { providedId, expiresInSeconds } = request
    const userGroup = await this.#parts.store.userGroups.find({ workspaceId, environment, providedId })
    if (userGroup === null) throw userGroupNotFound()
    const faults = [
      ...faultsOfNarrowing(request.narrow ?? {}, userGroup),
      ...this.#faultsOfPublicUrl(request),
      ...faultsOfInclude(request, userGroup),
    ]
    if (faults.length > 0) throw validationFailed(faults)
    const key = await this.keys.signing(caller)
    const issuedAt = Math.floor(this.#parts.clock.now() / 1000)
    const times = { issuedAt, expiresAt: issuedAt + expiresInSeconds }
    const sessionId = randomBase62(sessionIdLength)
    const payload = payloadOf(request, userGroup, { ...times, sessionId, issuer: this.#issuerOf(caller) })
    const token = signJwt(payload, key.id, key.privateKey)
    if (token.length > maxTokenBytes) {
      const message = `makes the token larger than ${maxTokenBytes} bytes; send less of viewer, narrow, resources, include and claims`
      throw validationFailed([{ path: '', message }])
    }
    return { token, sessionId, expiresAt: times.expiresAt * 1000, userGroup }
  }

  /**
   * Creates a session of 5 minutes in which an operator sees what a user group sees, and returns the URL to open. It is in the audit log
   * before it exists.
   * @param name of the operator or of the API token
   * @throws Fault `user_group_not_found`, `not_implemented` without `UGS_DASHBOARD_URL`, `unavailable`
   */
  async viewAs(
    caller: Caller,
    providedId: string,
    name: string,
  ): Promise<{ url: string; expiresAt: number }> {
    const { dashboardUrl } = this.#parts
    if (dashboardUrl === undefined)
      throw new Fault(
        'not_implemented',
        'The service does not know the page of the dashboards. Set UGS_DASHBOARD_URL, such as https://app.example.com/dashboards#session={session}',
      )
    const viewerId = Array.from(`support:${name}`).slice(0, 255).join('')
    const viewer = JSON.stringify({ id: viewerId, support: true })
    const request = { providedId, viewerId, viewer, expiresInSeconds: viewAsSeconds }
    const { userGroup, token, sessionId, expiresAt } = await this.create(caller, request)
    const { workspaceId, environment } = caller
    await this.#parts.store.viewerSessions.recordViewAs({
      workspaceId,
      environment,
      ...actorOf(caller),
      userGroup,
      viewerId,
      sessionId,
      now: this.#parts.clock.now(),
    })
    return { url: dashboardUrl.replace('{session}', token), expiresAt }
  }

  /**
   * Returns what a session shows now. Returns null for any other text, and for a session that is over, is not for `resource`, or whose
   * user group is suspended or deleted.
   * @throws Fault `unavailable`
   */
  async introspect(scope: TenantScope, token: string, resource: string | null): Promise<SessionView | null> {
    const session = await this.#verify(scope, token)
    if (session === null) return null
    const { claims } = session
    if (resource !== null && claims.resources?.includes(resource) === false) return null
    const { workspaceId, environment } = scope
    const location = locationOf(scope, claims)
    const found = await this.#parts.store.userGroups.findActive(workspaceId, environment, location)
    if (found?.userGroup.providedId !== claims.sub) return null
    // Read after the user group: its state becomes stale with each later end of a session.
    const isOver = await this.#isOver(scope, session)
    return isOver ? null : { ...narrowed(claims.narrow ?? {}, found), claims }
  }

  /** Ends sessions of a user group that were created until now. @throws Fault `user_group_not_found`, `revision_mismatch`, `unavailable` */
  async end(
    caller: Caller,
    providedId: string,
    subject: SessionSubject,
    expected?: ExpectedUserGroup,
  ): Promise<TokenlessUserGroup> {
    const result = await this.#end(caller, providedId, subject, expected)
    if (result.outcome === 'not_found') throw userGroupNotFound()
    if (result.outcome === 'revision_mismatch') throw revisionMismatch()
    return result.userGroup
  }

  /** Ends one session. Does nothing for any other text. @throws Fault `unavailable` */
  async revoke(caller: Caller, token: string): Promise<void> {
    const session = await this.#verify(caller, token)
    if (session === null) return
    const { sub, jti: sessionId, viewer_id: viewerId, team_id: teamId } = session.claims
    await this.#end(caller, sub, { viewerId, sessionId }, { teamId })
  }

  /**
   * Returns the owner of a leaked session and whether it worked, or null for any other text.
   * @param ends ends all sessions of its viewer unless it is over, also while its user group is suspended
   * @throws Fault `unavailable`
   */
  async findLeaked(caller: Caller, token: string, ends: boolean): Promise<LeakedSession | null> {
    const { workspaceId, environment } = caller
    const session = await this.#verify(caller, token, -Infinity)
    if (session === null) return null
    const { sub: providedId, team_id: teamId, viewer_id: viewerId, jti: sessionId, exp } = session.claims
    const owner = await this.#parts.store.userGroups.findById(workspaceId, environment, teamId)
    if (owner === null) return null
    const works = (await this.introspect(caller, token, null)) !== null
    const isOver = exp * 1000 <= this.#parts.clock.now() || (await this.#isOver(caller, session))
    const ended = ends && !isOver
    const userGroup = ended ? await this.end(caller, providedId, { viewerId }, { teamId }) : owner
    return { kind: 'viewer_session', works, userGroup, viewerId, sessionId, expiresAt: exp * 1000, ended }
  }

  #end(
    caller: Caller,
    providedId: string,
    subject: SessionSubject,
    expected?: ExpectedUserGroup,
  ): Promise<EndSessionsOutcome> {
    const { workspaceId, environment } = caller
    return this.#parts.store.userGroups.endSessions({
      key: { workspaceId, environment, providedId },
      ...actorOf(caller),
      ...(expected !== undefined && { expected }),
      subject,
      now: this.#parts.clock.now(),
    })
  }

  #isOver(scope: TenantScope, { claims, signingKeyId }: VerifiedSession): Promise<boolean> {
    const { workspaceId, environment } = scope
    return this.#parts.store.viewerSessions.isOver({
      workspaceId,
      environment,
      ...locationOf(scope, claims),
      signingKeyId,
      subjects: subjectsOf(claims),
      issuedAt: claims.iat * 1000,
      now: this.#parts.clock.now(),
    })
  }

  /**
   * Returns the claims of a token that is signed by a key of the caller's workspace and environment.
   * @param after the token must expire later, in seconds
   */
  async #verify(
    scope: TenantScope,
    token: string,
    after = this.#parts.clock.now() / 1000,
  ): Promise<VerifiedSession | null> {
    const known = this.#verified.get(keyOf(scope, token))
    if (known !== undefined) return after < known.claims.exp ? known : null
    const jwt = token.length > maxTokenBytes ? null : readJwt(token)
    const claims = jwt && claimsIn(jwt.payload)
    const latest = this.#parts.clock.now() / 1000 + maxClockSkewSeconds
    // Cheap checks first: a signature takes about 100 µs.
    if (jwt === null || claims === null || !(claims.iat <= latest && after < claims.exp)) return null
    const publicKey = await this.keys.find(scope, jwt.keyId)
    if (publicKey === null || !jwt.isSignedBy(publicKey)) return null
    const session = { signingKeyId: jwt.keyId, claims }
    this.#verified.set(keyOf(scope, token), session)
    return session
  }

  /** Returns the URL of the key set without its extension. Without `UGS_PUBLIC_URL`, only its path. */
  #issuerOf({ workspaceId, environment }: TenantScope): string {
    return `${this.#parts.publicUrl ?? ''}${keySetPathOf(workspaceId, environment)}`
  }

  #faultsOfPublicUrl(request: SessionRequest) {
    const fields = (['audience', 'include', 'claims'] as const).filter(
      (field) => request[field] !== undefined,
    )
    const message = 'needs the setting UGS_PUBLIC_URL, from which the issuer of the token follows'
    return this.#parts.publicUrl === null ? fields.map((field) => ({ path: `/${field}`, message })) : []
  }
}

function keyOf({ workspaceId, environment }: TenantScope, token: string): string {
  return `${workspaceId}/${environment}/${token}`
}

function locationOf({ workspaceId, environment }: TenantScope, { sub, team_id: teamId }: SessionClaims) {
  return { bucket: bucketOf({ workspaceId, environment, providedId: sub }), teamId }
}

function subjectsOf({ viewer_id: viewerId, jti: sessionId }: SessionClaims): string[] {
  return (['all', { viewerId }, { viewerId, sessionId }] as const).map(endedSubject)
}

/** The payload is not verified yet, so that only its form is checked. */
function claimsIn(payload: string): SessionClaims | null {
  try {
    const claims: unknown = JSON.parse(payload)
    return typeof claims === 'object' && claims !== null ? (claims as SessionClaims) : null
  } catch {
    return null
  }
}

const includedProperty = 'properties.'

function faultsOfInclude({ include = [] }: SessionRequest, { properties }: UserGroup) {
  const current = objectIn(properties)
  const message = 'must be name, or properties. and the name of a property that the user group has'
  return include.flatMap((field, i) =>
    field === 'name' ||
    (field.startsWith(includedProperty) && Object.hasOwn(current, field.slice(includedProperty.length)))
      ? []
      : [{ path: shownPointer(['include', String(i)]), message }],
  )
}

interface Issued {
  readonly issuer: string
  readonly sessionId: string
  readonly issuedAt: number
  readonly expiresAt: number
}

/** Returns the payload as a text, because `viewer` and `claims` are the JSON texts that the client sent. */
function payloadOf(request: SessionRequest, userGroup: UserGroup, issued: Issued): string {
  const { viewer, viewerId, narrow, resources, audience, include, claims = '{}' } = request
  const narrowing = narrow && issuedNarrowing(narrow, userGroup)
  const members = {
    iss: issued.issuer,
    sub: userGroup.providedId,
    iat: issued.issuedAt,
    exp: issued.expiresAt,
    jti: issued.sessionId,
    team_id: userGroup.teamId,
    viewer_id: viewerId,
    ...(narrowing !== undefined && { narrow: narrowing }),
    ...(resources !== undefined && { resources }),
    ...(audience !== undefined && { aud: audience }),
    ...included(include, userGroup, narrowing),
  }
  const others = claims.slice(1, -1)
  return `${JSON.stringify(members).slice(0, -1)},"viewer":${viewer}${others === '' ? '' : `,${others}`}}`
}

/** Returns the fields of the user group that the token itself carries, narrowed as of now. */
function included(
  include: readonly string[] = [],
  userGroup: UserGroup,
  narrow: ReturnType<typeof issuedNarrowing> = {},
) {
  const properties = objectIn(narrowedProperties(userGroup, narrow.properties))
  const names = include
    .filter((field) => field !== 'name')
    .map((field) => field.slice(includedProperty.length))
  return {
    ...(include.includes('name') && { name: userGroup.name }),
    ...(names.length > 0 && {
      properties: Object.fromEntries(names.map((name) => [name, properties[name]])),
    }),
  }
}

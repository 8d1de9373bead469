import { actorOf, type Caller } from '../caller.ts'
import { hash } from 'node:crypto'
import type { Clock } from '../util/clock.ts'
import {
  mappingEntries,
  type MappingMode,
  refusedEntries,
  type ResolvedEntry,
} from '../data-source/data-source.ts'
import { Fault, validationFailed } from '../fault.ts'
import { shownPointer } from '../json/json-pointer.ts'
import { DecryptionError, type Keyring } from '../secret-key/keyring.ts'
import type {
  ExpectedUserGroup,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  IssueToken,
  RotateOutcome,
  RotateUserGroupToken,
  RotatedUserGroup,
  SecretKeyRetired,
  TokenOwner,
  TokenReference,
  UserGroupState,
} from './user-group-store.ts'
import { mappingToCheck } from './decisions.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { LocatorCodec } from './locator.ts'
import { generateUserGroupToken, hashToken, locatorOf } from '../token/token.ts'
import {
  changesNothing,
  encryptionContext,
  type UserGroup,
  type UserGroupChange,
  type UserGroupKey,
  type UserGroupView,
} from './user-group.ts'

type Ports = Pick<Store, 'userGroups' | 'dataSources' | 'integrity' | 'locatorKey'>

/** Time for which a retry with an idempotency key gets the response of the first request, in milliseconds. */
const idempotencyWindowMs = 24 * 60 * 60 * 1000

/** Maximum number of mapping entries that an error names. */
const maxFaultsShown = 100

/** A user group with its decrypted token. */
export type UserGroupWithToken = WithToken<UserGroup>

type WithToken<Shown extends UserGroupView> = Omit<Shown, 'token'> & { readonly token: string }

/** The content to give to a user group, whether it exists or not. */
export interface UserGroupRequest {
  readonly providedId: string
  readonly change: UserGroupChange
}

type Upserted = Extract<GetOrCreateOutcome, { userGroup: UserGroupView }>

/** The effect of a request that creates or changes a user group. */
export type UpsertOutcome = Upserted['outcome']

export type RotationResult = Omit<RotatedUserGroup, 'token'> & { readonly token: string }

export interface RotationRequest {
  readonly target:
    { readonly currentToken: string } | { readonly providedId: string; readonly expected?: ExpectedUserGroup }
  readonly gracePeriodSeconds: number
  readonly idempotency?: { readonly key: string; readonly fingerprint: Uint8Array }
}

/** The operations that `/api/user`, `ugs user-group` and the management API share. */
export class UserGroupService {
  readonly #store: Ports
  readonly #locators: LocatorCodec
  readonly #keyring: Keyring
  readonly #clock: Pick<Clock, 'now'>
  readonly #mappingMode: MappingMode
  readonly #runningIdempotencyKeys = new Set<string>()
  /** Plaintext of newly issued tokens, by their encrypted bytes, so that a response needs no decryption. */
  readonly #issuedTokens = new WeakMap<Uint8Array, string>()

  constructor(parts: {
    store: Ports
    keyring: Keyring
    clock: Pick<Clock, 'now'>
    mappingMode: MappingMode
  }) {
    this.#store = parts.store
    this.#locators = new LocatorCodec(parts.store.locatorKey)
    this.#keyring = parts.keyring
    this.#clock = parts.clock
    this.#mappingMode = parts.mappingMode
  }

  /**
   * Returns the user group, created or changed where the request differs from it. `state` is null unless it is unchanged.
   * @throws Fault `name_required`, `validation_failed` (an unregistered mapping), `forbidden` (a creation or change without
   * `mayWrite`), `unavailable`
   */
  async getOrCreate(
    caller: Caller,
    providedId: string,
    change: UserGroupChange,
    mayWrite: boolean,
  ): Promise<{ created: boolean; userGroup: WithToken<UserGroupView>; state: UserGroupState | null }> {
    const upserted = await this.upsert(caller, providedId, change, mayWrite)
    return {
      created: upserted.outcome === 'created',
      userGroup: this.#open(upserted.userGroup),
      state: upserted.outcome === 'unchanged' ? upserted.state : null,
    }
  }

  /** Does the same as `getOrCreate`, without decrypting the token. */
  async upsert(
    caller: Caller,
    providedId: string,
    change: UserGroupChange,
    mayWrite = true,
  ): Promise<Upserted> {
    const outcome = await this.#store.userGroups.getOrCreate(
      this.#commandOf(caller, { providedId, change }, mayWrite),
    )
    const refusal = refusalOf(outcome)
    if (refusal !== null) throw refusal
    return outcome as Upserted
  }

  /**
   * Creates a user group and returns its team id.
   * @throws Fault `already_exists`, `name_required`, `validation_failed` (an unregistered mapping), `unavailable`
   */
  async create(caller: Caller, request: UserGroupRequest): Promise<number> {
    const command = { ...this.#commandOf(caller, request, true), mayChange: false }
    const outcome = await this.#store.userGroups.getOrCreate(command)
    if (outcome.outcome === 'write_required' || outcome.outcome === 'unchanged')
      throw new Fault('already_exists', 'user_group_id: another user group has this id')
    const refusal = refusalOf(outcome)
    if (refusal !== null) throw refusal
    return (outcome as Upserted).userGroup.teamId
  }

  /**
   * Creates or changes many user groups. A refused request does not affect the others.
   * @throws Fault `unavailable`
   */
  async upsertAll(
    caller: Caller,
    requests: readonly UserGroupRequest[],
  ): Promise<readonly (UpsertOutcome | Fault)[]> {
    const outcomes = await this.#store.userGroups.getOrCreateMany(
      requests.map((request) => this.#commandOf(caller, request, true)),
    )
    return outcomes.map((outcome) => refusalOf(outcome) ?? (outcome as Upserted).outcome)
  }

  /**
   * Returns the outcome that `upsert` would have, without changing anything.
   * @throws Fault `name_required`, `validation_failed` (an unregistered mapping), `unavailable`
   */
  async preview(caller: TenantScope, { providedId, change }: UserGroupRequest): Promise<UpsertOutcome> {
    const userGroup = await this.#store.userGroups.find(keyOf(caller, providedId))
    if (userGroup !== null && changesNothing(userGroup, change)) return 'unchanged'
    if (userGroup === null && change.name === undefined) throw nameRequired()
    await this.#checkMapping(caller, change)
    return userGroup === null ? 'created' : 'updated'
  }

  /** Returns the outcomes that `upsertAll` would have. @throws Fault `unavailable` */
  previewAll(
    caller: TenantScope,
    requests: readonly UserGroupRequest[],
  ): Promise<readonly (UpsertOutcome | Fault)[]> {
    return Promise.all(
      requests.map((request) =>
        this.preview(caller, request).catch((error: unknown) => {
          if (error instanceof Fault && error.code !== 'unavailable') return error
          throw error
        }),
      ),
    )
  }

  /** @throws Fault `user_group_not_found`, `revision_mismatch`, `validation_failed` (an unregistered mapping), `unavailable` */
  async update(
    caller: Caller,
    providedId: string,
    change: UserGroupChange,
    expected?: ExpectedUserGroup,
  ): Promise<UserGroupWithToken> {
    const result = await this.#store.userGroups.update({
      key: keyOf(caller, providedId),
      ...(expected !== undefined && { expected }),
      change,
      mappingMode: this.#mappingMode,
      ...actorOf(caller),
      now: this.#clock.now(),
    })
    if (result.outcome === 'not_found') throw userGroupNotFound()
    if (result.outcome === 'revision_mismatch') throw revisionMismatch()
    if (result.outcome === 'mapping_refused') throw mappingRefused(result.entries)
    return this.#open(result.userGroup)
  }

  /**
   * @throws Fault `token_not_found` (or, by id, `user_group_not_found`), `token_superseded`, `idempotency_key_in_use`,
   * `idempotency_key_reused`, `unavailable`
   */
  async rotate(caller: Caller, request: RotationRequest): Promise<RotationResult> {
    const { workspaceId, environment, author, requestId } = caller
    const { idempotency } = request
    const target = this.#targetOf(request)
    if (target === null) throw tokenNotFound()
    const now = this.#clock.now()
    const command: RotateUserGroupToken = {
      workspaceId,
      environment,
      author,
      requestId,
      target,
      oldTokenValidUntil: now + request.gracePeriodSeconds * 1000,
      issueToken: this.#issueToken,
      now,
    }
    const result = idempotency
      ? await this.#rotateOnce(command, idempotency)
      : await this.#store.userGroups.rotate(command)
    switch (result.outcome) {
      case 'not_found':
        throw 'token' in target ? tokenNotFound() : userGroupNotFound()
      case 'superseded':
        throw new Fault(
          'token_superseded',
          'This token was already replaced and cannot be rotated; GET the user group to learn its current token',
        )
      case 'revision_mismatch':
        throw revisionMismatch()
      case 'secret_key_retired':
        throw secretKeyRetired(result)
      case 'idempotency_key_reused':
        throw new Fault(
          'idempotency_key_reused',
          'Idempotency-Key: this key was used with another body; use a new key for each rotation',
        )
      default:
        return { ...result.userGroup, token: this.#openToken(result.userGroup) }
    }
  }

  /**
   * Ends a user group token: replaces the current token by one that nobody has yet, and ends the grace period of a superseded
   * one. Does nothing for any other text.
   * @throws Fault `unavailable`
   */
  async revoke(caller: Caller, token: string): Promise<void> {
    const reference = this.referenceOf(token)
    if (reference === null) return
    try {
      await this.rotate(caller, { target: { currentToken: token }, gracePeriodSeconds: 0 })
    } catch (error) {
      const code = error instanceof Fault ? error.code : undefined
      if (code === 'token_not_found') return
      if (code !== 'token_superseded') throw error
      const now = this.#clock.now()
      await this.#store.userGroups.endGracePeriod({ ...caller, token: reference, now })
    }
  }

  /**
   * Finds the owner of a user group token that is current or in its grace period. Returns null for any other text.
   * @throws Fault `unavailable`
   */
  async introspect({ workspaceId, environment }: TenantScope, token: string): Promise<TokenOwner | null> {
    const reference = this.referenceOf(token)
    if (reference === null) return null
    return this.#store.userGroups.findByToken(workspaceId, environment, reference, this.#clock.now())
  }

  /** Returns how the store looks up a user group token, or null for a text that was never issued. */
  referenceOf(token: string): TokenReference | null {
    const locator = locatorOf(token)
    const location = locator === null ? null : this.#locators.decode(locator)
    return location && { ...location, hash: hashToken(token) }
  }

  /** @throws Fault `user_group_not_found`, `unavailable` */
  async show(tenantScope: TenantScope, providedId: string): Promise<UserGroupWithToken> {
    const userGroup = await this.#store.userGroups.find(keyOf(tenantScope, providedId))
    if (userGroup === null) throw userGroupNotFound()
    return this.#open(userGroup)
  }

  /** @throws Fault `user_group_not_found`, `unavailable` */
  async showById({ workspaceId, environment }: TenantScope, teamId: number): Promise<UserGroupWithToken> {
    const userGroup = await this.#store.userGroups.findById(workspaceId, environment, teamId)
    if (userGroup === null) throw userGroupNotFound('team_id')
    return this.#open(userGroup)
  }

  /** @throws Fault `user_group_not_found`, `revision_mismatch`, `unavailable` */
  async delete(caller: Caller, providedId: string, expected?: ExpectedUserGroup): Promise<void> {
    const outcome = await this.#store.userGroups.delete({
      key: keyOf(caller, providedId),
      ...(expected !== undefined && { expected }),
      ...actorOf(caller),
      now: this.#clock.now(),
    })
    if (outcome === 'not_found') throw userGroupNotFound()
    if (outcome === 'revision_mismatch') throw revisionMismatch()
  }

  /** @throws Fault `validation_failed` if the mapping is refused, `unavailable` */
  async #checkMapping(scope: TenantScope, change: UserGroupChange): Promise<void> {
    const toCheck = mappingToCheck({ change, mappingMode: this.#mappingMode })
    if (toCheck === null) return
    const entries = mappingEntries(toCheck.mapping)
    const resolved = await this.#store.dataSources.resolveEntries(scope, entries)
    const refused = refusedEntries(resolved, toCheck.mode)
    if (refused.length > 0) throw mappingRefused(refused)
  }

  async #rotateOnce(
    command: RotateUserGroupToken,
    { key, fingerprint }: { key: string; fingerprint: Uint8Array },
  ): Promise<RotateOutcome> {
    const { target } = command
    const userGroup = 'token' in target ? target.token.teamId : JSON.stringify(target.providedId)
    const running = `${command.workspaceId}/${command.environment}/${userGroup}/${key}`
    if (this.#runningIdempotencyKeys.has(running)) {
      throw new Fault(
        'idempotency_key_in_use',
        'Idempotency-Key: the first request with this key is still running; retry in a moment',
      )
    }
    this.#runningIdempotencyKeys.add(running)
    try {
      return await this.#store.userGroups.rotate({
        ...command,
        idempotency: {
          keyHash: hash('sha256', key, 'buffer'),
          fingerprint,
          expiresAt: command.now + idempotencyWindowMs,
        },
      })
    } finally {
      this.#runningIdempotencyKeys.delete(running)
    }
  }

  /** Returns null if the token was never issued. */
  #targetOf({ target }: RotationRequest): RotateUserGroupToken['target'] | null {
    if (!('currentToken' in target)) return target
    const token = this.referenceOf(target.currentToken)
    return token && { token }
  }

  #commandOf(
    caller: Caller,
    { providedId, change }: UserGroupRequest,
    mayWrite: boolean,
  ): GetOrCreateUserGroup {
    const { author, requestId } = caller
    const key = keyOf(caller, providedId)
    const now = this.#clock.now()
    const issueToken = this.#issueToken
    return { key, change, mappingMode: this.#mappingMode, author, requestId, mayWrite, issueToken, now }
  }

  readonly #issueToken: IssueToken = (key, location) => {
    const token = generateUserGroupToken(key.environment, this.#locators.encode(location))
    const { keyId, sealed } = this.#keyring.seal(token, encryptionContext(key))
    this.#issuedTokens.set(sealed, token)
    return { hash: hashToken(token), keyId, sealed }
  }

  #open<Shown extends UserGroupView>(userGroup: Shown): WithToken<Shown> {
    return { ...userGroup, token: this.#openToken(userGroup) }
  }

  #openToken(userGroup: UserGroupKey & Pick<UserGroup, 'token'>): string {
    const issued = this.#issuedTokens.get(userGroup.token.sealed)
    if (issued !== undefined) return issued
    try {
      return this.#keyring.open(userGroup.token, encryptionContext(userGroup))
    } catch (error) {
      if (!(error instanceof DecryptionError)) throw error
      if (!error.isKeyMissing) this.#store.integrity.suspect()
      throw new Fault('unavailable', 'The token of this user group cannot be shown at the moment', {
        reason: `TOKEN_SEALED: ${error.message}; ${error.isKeyMissing ? 'add that key to the end of UGS_SECRET_KEYS or of the key file of this process' : 'restore a backup, or rotate the token'}`,
      })
    }
  }
}

function keyOf({ workspaceId, environment }: TenantScope, providedId: string): UserGroupKey {
  return { workspaceId, environment, providedId }
}

/** Returns the error of a refused request, or null if it was not refused. */
function refusalOf(result: GetOrCreateOutcome): Fault | null {
  switch (result.outcome) {
    case 'name_required':
      return nameRequired()
    case 'write_required':
      return new Fault(
        'forbidden',
        'This API token is read-only, and this request would create or change the user group. Use one with the scope "write"',
      )
    case 'mapping_refused':
      return mappingRefused(result.entries)
    case 'secret_key_retired':
      return secretKeyRetired(result)
    default:
      return null
  }
}

export function secretKeyRetired({ keyId }: SecretKeyRetired): Fault {
  return new Fault('unavailable', 'A token cannot be issued at the moment', {
    reason: `SECRET_KEY_RETIRED: the secret key "${keyId}", with which this process encrypts, is retired; give this process the secret keys that the others have`,
  })
}

function nameRequired(): Fault {
  return new Fault('name_required', 'name: is required to create a user group, and none has this id yet', {
    fields: [{ path: '/name', message: 'is required to create a user group' }],
  })
}

export function revisionMismatch(): Fault {
  return new Fault(
    'revision_mismatch',
    'If-Match: the user group has changed since; read it again before you change it',
  )
}

export function userGroupNotFound(id: 'user_group_id' | 'team_id' = 'user_group_id'): Fault {
  return new Fault('user_group_not_found', `No user group has this ${id} in this environment`)
}

function mappingRefused(entries: readonly ResolvedEntry[]): Fault {
  return validationFailed(
    entries.slice(0, maxFaultsShown).map((entry) => ({
      path: shownPointer(['mapping', entry.schemaKey]),
      message: reasonOf(entry, entries),
    })),
  )
}

function reasonOf({ schemaKey, schema }: ResolvedEntry, entries: readonly ResolvedEntry[]): string {
  if (schema === null) return 'is not a registered schema'
  const twin = entries.find((other) => other.schema?.id === schema.id && other.schemaKey !== schemaKey)
  return twin === undefined
    ? 'is not a registered data source of this schema'
    : `names the same schema as the key ${JSON.stringify(twin.schemaKey)}; use one of them`
}

/** One error for a token that is malformed, unknown, or of another workspace or environment (contract, POST). */
function tokenNotFound(): Fault {
  return new Fault('token_not_found', 'current_token: no user group of this environment has this token')
}

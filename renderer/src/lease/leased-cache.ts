import { createHash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import type { Clock } from '../clock.ts'
import type { Introspection, IntrospectionCache } from '../introspection-cache.ts'
import { mayShow, type UserGroup } from '../user-group.ts'
import { EventFeed, type Disconnection, type FeedHandler } from './event-feed.ts'
import { concernsTokens, isRevocation, resetEvent, type FeedEvent } from './feed-event.ts'
import { instantOf, later, never, type Instant } from './instant.ts'
import { InvalidationLog } from './invalidation-log.ts'
import { includes, isComparable, parsePosition, type Position } from './position.ts'

export interface LeasedCacheOptions {
  /** Keep results for as long as the event feed of the service reports every change. */
  readonly lease: true
  /** Maximum number of cached results. The least recently used ones are dropped. */
  readonly maxEntries: number
  /**
   * Maximum time in milliseconds for which results are used after the service last reported that the feed is complete: 2000
   * to 60000. Default: 5000. A revoked token may keep working for this long if the feed is interrupted.
   */
  readonly leaseMs?: number
  readonly maxAgeMs?: undefined
}

/** A cached token that an event concerns. */
export class TokenChange {
  readonly userGroup: UserGroup
  /** Type of the event, for example `user_group.suspended`, or `inactive` if an introspection found it out. */
  readonly reason: string
  /** Private, so that logs and JSON do not contain it. */
  readonly #token: string

  constructor(token: string, userGroup: UserGroup, reason: string) {
    this.#token = token
    this.userGroup = userGroup
    this.reason = reason
  }

  get token(): string {
    return this.#token
  }
}

/** Events of a client with a leased cache, with the arguments of their listeners. */
export interface IntrospectionEvents {
  /** A cached token may no longer be valid. Introspect it again to know. */
  revoked: [change: TokenChange]
  /** The user group of a cached token, which is still valid, may have changed. */
  changed: [change: TokenChange]
  /** The service reported a change, also of tokens that are not cached. */
  event: [event: FeedEvent]
  /** The event feed works. */
  connected: []
  /** The connection to the event feed ended. */
  disconnected: [disconnection: Disconnection]
}

interface Entry {
  readonly userGroup: UserGroup
  readonly tokenSha256: string
  /** End of a session or a grace period. */
  readonly until: Instant
}

const defaultLeaseMs = 5000
const minLeaseMs = 2000
const maxLeaseMs = 60_000
/** Interval of the heartbeats of the service. */
const heartbeatMs = 1000
/** A new connection within the lease keeps the cache in use. */
const maxSilenceMs = 3000

/**
 * Active introspection results, used only while the event feed is known to be complete: the lease. Entries are kept when the
 * lease or the connection ends, because a feed that resumes delivers the missed events before its next heartbeat, which
 * starts the lease again. Otherwise every restart of the service would empty the caches of all renderers, and they could not
 * say which tokens were revoked meanwhile.
 */
export class LeasedCache implements IntrospectionCache, FeedHandler {
  readonly events = new EventEmitter<IntrospectionEvents>()
  readonly #clock: Clock
  readonly #maxEntries: number
  readonly #leaseMs: number
  readonly #feed: EventFeed
  readonly #invalidations = new InvalidationLog()
  /** By token, ordered by use, most recent last. Not by hash, which costs more than the whole look-up. */
  readonly #entries = new Map<string, Entry>()
  readonly #tokensBySha256 = new Map<string, string>()
  readonly #tokensByTeam = new Map<number, Set<string>>()
  #leaseEnd = never
  /** First of the heartbeats with which the lease does not last until the next one, by the monotonic clock. */
  #lateSince: number | undefined

  constructor(
    { maxEntries, leaseMs = defaultLeaseMs }: LeasedCacheOptions,
    { eventsUrl, apiToken, clock }: { eventsUrl: URL; apiToken: string; clock: Clock },
  ) {
    if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) {
      throw new RangeError('cache.maxEntries must be an integer, 1 or more')
    }
    if (!Number.isSafeInteger(leaseMs) || leaseMs < minLeaseMs || leaseMs > maxLeaseMs) {
      throw new RangeError(`cache.leaseMs must be an integer from ${minLeaseMs} to ${maxLeaseMs}`)
    }
    this.#maxEntries = maxEntries
    this.#leaseMs = leaseMs
    this.#clock = clock
    const silenceMs = Math.min(leaseMs, maxSilenceMs)
    this.#feed = new EventFeed({ url: eventsUrl, apiToken, clock, silenceMs }, this)
  }

  get hasLease(): boolean {
    return !this.#isPast(this.#leaseEnd)
  }

  get(token: string): UserGroup | undefined {
    this.#feed.open()
    const entry = this.#entries.get(token)
    if (entry === undefined || this.#isPast(this.#leaseEnd, entry.until)) return undefined
    this.#entries.delete(token)
    this.#entries.set(token, entry)
    return entry.userGroup
  }

  beginRequest(token: string, resource: string | undefined): (introspection: Introspection) => void {
    const startedAt = instantOf(this.#clock)
    const { sequence } = this.#invalidations
    return ({ userGroup, position: positionText, servedAt }) => {
      if (userGroup === null) return this.#dropInactive(token, resource)
      const position = parsePosition(positionText)
      if (!position || !this.hasLease) return
      const tokenSha256 = sha256(token)
      if (!this.#isCurrent(position, tokenSha256, userGroup.teamId, sequence)) return
      this.#store(token, { userGroup, tokenSha256, until: this.#endOf(userGroup, startedAt, servedAt) })
    }
  }

  invalidate(token: string): void {
    const entry = this.#entries.get(token)
    if (entry) this.#remove(token, entry)
    this.#invalidations.add({ teamId: null, tokenSha256: [sha256(token)] }, this.#feed.position)
  }

  close(): void {
    this.#feed.close()
    this.#leaseEnd = never
    this.#entries.clear()
    this.#tokensBySha256.clear()
    this.#tokensByTeam.clear()
  }

  onHeartbeat(completeAt: Instant | undefined): void {
    if (completeAt === undefined) return
    this.#leaseEnd = later(completeAt, this.#leaseMs)
    if (this.#isPast(later(this.#leaseEnd, -heartbeatMs))) this.#reconnectIfLate()
    else this.#lateSince = undefined
  }

  onEvent(event: FeedEvent, position: Position): void {
    const { type, teamId, tokenSha256 } = event
    if (concernsTokens(event)) {
      this.#invalidations.add(event, position)
      const name = isRevocation(event) ? 'revoked' : 'changed'
      for (const token of this.#concerned(teamId, tokenSha256)) this.#drop(token, name, type)
    }
    this.#emit('event', event)
  }

  onReset(position: Position | undefined): void {
    this.#leaseEnd = never
    const event = resetEvent()
    this.#invalidations.add(event, position)
    for (const token of [...this.#entries.keys()]) this.#drop(token, 'revoked', event.type)
    this.#emit('event', event)
  }

  onConnected(): void {
    this.#emit('connected')
  }

  onDisconnected(disconnection: Disconnection): void {
    this.#emit('disconnected', disconnection)
  }

  /** A new connection helps if this one took long to begin, or if a clock was set since: the service counts from its start. */
  #reconnectIfLate(): void {
    const now = this.#clock.monotonic()
    this.#lateSince ??= now
    if (now - this.#lateSince < this.#leaseMs) return
    this.#lateSince = undefined
    this.#feed.reconnect('late')
  }

  /** Returns whether a response considers every invalidation so far that concerns its token. */
  #isCurrent(position: Position, tokenSha256: string, teamId: number, sequenceAtStart: number): boolean {
    // The feed does not report events of another store.
    if (!this.#feed.position || !isComparable(position, this.#feed.position)) return false
    const newest = this.#invalidations.newest(tokenSha256, teamId)
    if (newest.sequence > sequenceAtStart) return false
    return newest.position === undefined || includes(position, newest.position)
  }

  /** Returns the end of a session or a grace period, by the later of our clock and the service's. */
  #endOf({ token: { expiresAt } }: UserGroup, startedAt: Instant, servedAt: number | null): Instant {
    if (expiresAt === null) return { monotonic: Infinity, wall: Infinity }
    // `Date` has whole seconds.
    const now = Math.max(this.#clock.now(), servedAt === null ? -Infinity : servedAt + 1000)
    return { monotonic: startedAt.monotonic + expiresAt - now, wall: expiresAt }
  }

  #store(token: string, entry: Entry): void {
    const replaced = this.#entries.get(token)
    if (replaced) this.#remove(token, replaced)
    this.#entries.set(token, entry)
    this.#tokensBySha256.set(entry.tokenSha256, token)
    const { teamId } = entry.userGroup
    const ofTeam = this.#tokensByTeam.get(teamId) ?? new Set()
    this.#tokensByTeam.set(teamId, ofTeam.add(token))
    for (const [oldest, oldestEntry] of this.#entries) {
      if (this.#entries.size <= this.#maxEntries) break
      this.#remove(oldest, oldestEntry)
    }
  }

  #concerned(teamId: number | null, tokenSha256: readonly string[] | null): string[] {
    if (tokenSha256) return tokenSha256.flatMap((hash) => this.#tokensBySha256.get(hash) ?? [])
    return [...(teamId === null ? this.#entries.keys() : (this.#tokensByTeam.get(teamId) ?? []))]
  }

  #drop(token: string, event: 'revoked' | 'changed', reason: string): void {
    const entry = this.#entries.get(token)
    if (!entry) return
    this.#remove(token, entry)
    this.#emit(event, new TokenChange(token, entry.userGroup, reason))
  }

  #dropInactive(token: string, resource: string | undefined): void {
    const entry = this.#entries.get(token)
    // For a resource that the session may not show, the response says nothing about the others.
    if (entry && mayShow(entry.userGroup, resource)) this.#drop(token, 'revoked', 'inactive')
  }

  #remove(token: string, { tokenSha256, userGroup: { teamId } }: Entry): void {
    this.#entries.delete(token)
    this.#tokensBySha256.delete(tokenSha256)
    const ofTeam = this.#tokensByTeam.get(teamId)
    ofTeam?.delete(token)
    if (ofTeam?.size === 0) this.#tokensByTeam.delete(teamId)
  }

  #isPast(a: Instant, b: Instant = a): boolean {
    const monotonic = this.#clock.monotonic()
    const wall = this.#clock.now()
    return monotonic >= a.monotonic || wall >= a.wall || monotonic >= b.monotonic || wall >= b.wall
  }

  /** Calls listeners later, so that an error in one does not interrupt the feed. */
  #emit<Name extends keyof IntrospectionEvents>(name: Name, ...args: IntrospectionEvents[Name]): void {
    if (this.events.listenerCount(name) === 0) return
    process.nextTick(() => (this.events as EventEmitter).emit(name, ...args))
  }
}

function sha256(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

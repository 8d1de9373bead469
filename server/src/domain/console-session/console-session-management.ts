import type { Caller } from '../caller.ts'
import { Fault } from '../fault.ts'
import type { Store } from '../store.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Clock } from '../util/clock.ts'
import type { ConsoleSession } from './console-session-store.ts'
import { expiryOf, isOpen } from './console-sessions.ts'

export interface ListedSession extends ConsoleSession {
  readonly id: number
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number
}

/** The console sessions of others, for administrators. */
export class ConsoleSessionManagement {
  readonly #store: Pick<Store, 'consoleSessions'>
  readonly #clock: Pick<Clock, 'now'>

  constructor(parts: { store: Pick<Store, 'consoleSessions'>; clock: Pick<Clock, 'now'> }) {
    this.#store = parts.store
    this.#clock = parts.clock
  }

  /** Returns the sessions that are not over, the newest first. @throws Fault `unavailable` */
  async list(tenantScope: TenantScope): Promise<ListedSession[]> {
    const now = this.#clock.now()
    const sessions = await this.#store.consoleSessions.list(tenantScope)
    return sessions
      .filter((session) => isOpen(session, now))
      .map((session) => ({
        ...session,
        id: idOf(session.hash),
        expiresAt: expiryOf(session.principal, session.createdAt),
      }))
  }

  /** @throws Fault `not_found`, `unavailable` */
  async end(caller: Caller, id: number): Promise<void> {
    const session = (await this.list(caller)).find((listed) => listed.id === id)
    const isEnded =
      session !== undefined &&
      (await this.#store.consoleSessions.end({ ...caller, hash: session.hash, now: this.#clock.now() }))
    if (!isEnded)
      throw new Fault('not_found', 'No console session of this environment has this id, or it has ended')
  }
}

/** Returns a number that identifies the session to administrators and reveals nothing about its secret. */
function idOf(hash: Uint8Array): number {
  return Buffer.from(hash).readUIntBE(0, 6)
}

import type { Database, Statement } from 'better-sqlite3'
import type { ChangeStamp } from '../../domain/user-group/user-group-store.ts'

/** User groups share slots by the remainder of their id. A change of one counts for all of its slot. */
const slotCount = 65_536

/**
 * Detects whether a user group has changed since it was read, without reading it again. It counts changes. Temporary triggers
 * report changes of this connection; changes of other connections are detected by the file's counters and count for all user
 * groups.
 */
export class ChangeTracker {
  #count = 0
  /** Number of the last change that may concern any user group. */
  #lastOfAny = 0
  /** Number of the last change in each slot. */
  readonly #lastOf = new Float64Array(slotCount)
  /** Reads a number that changes when another connection writes anything. */
  readonly #askVersion: Statement<[], number>
  #version: number
  readonly #askChanges: Statement<[], number>
  /** Number of relevant changes of all connections, from the file; NaN if unknown. */
  #changes: number

  constructor(database: Database) {
    database.function('user_group_changed', (teamId: number) => {
      this.#lastOf[teamId % slotCount] = this.#change()
      return null
    })
    database.function('registry_changed', () => {
      this.#lastOfAny = this.#change()
      return null
    })
    // An insert needs no trigger: a re-created user group was deleted before. Changes of schemas and data sources change the registry.
    database.exec(
      `CREATE TEMP TRIGGER user_group_updated AFTER UPDATE ON main.user_group BEGIN SELECT user_group_changed(old.team_id); END;
       CREATE TEMP TRIGGER user_group_deleted AFTER DELETE ON main.user_group BEGIN SELECT user_group_changed(old.team_id); END;
       CREATE TEMP TRIGGER registry_inserted AFTER INSERT ON main.registry BEGIN SELECT registry_changed(); END;
       CREATE TEMP TRIGGER registry_updated AFTER UPDATE ON main.registry BEGIN SELECT registry_changed(); END;
       CREATE TEMP TRIGGER registry_deleted AFTER DELETE ON main.registry BEGIN SELECT registry_changed(); END`,
    )
    this.#askVersion = database.prepare<[], number>('PRAGMA data_version').pluck()
    this.#askChanges = database.prepare<[], number>('SELECT count FROM change_count').pluck()
    this.#version = this.version
    this.#changes = this.#countChanges()
  }

  /** Version of the data. Changes when another connection writes. */
  get version(): number {
    return this.#askVersion.get() as number
  }

  /** Stamp of the data that is read now, for `isUnchanged`. */
  get current(): ChangeStamp {
    return String(this.#count)
  }

  isUnchanged(teamId: number, stamp: ChangeStamp): boolean {
    const count = Number(stamp)
    return count >= this.#lastOfAny && count >= (this.#lastOf[teamId % slotCount] as number)
  }

  /**
   * Detects changes of other connections. Call it first in each transaction, so that the transaction reads no older data.
   * @returns whether another connection has written anything
   */
  detectForeignChanges(): boolean {
    const { version } = this
    const isForeign = version !== this.#version
    if (!isForeign && !Number.isNaN(this.#changes)) return false
    const changes = this.#countChanges()
    if (isForeign && changes !== this.#changes) this.#lastOfAny = ++this.#count
    this.#changes = changes
    // Last, so that the next transaction repeats a failed count.
    this.#version = version
    return isForeign
  }

  /** Call it last in each transaction. No other connection can write before the commit, so the count includes only own changes. */
  beforeCommit(): void {
    if (Number.isNaN(this.#changes)) this.#changes = this.#countChanges()
  }

  /** Call it after a rollback. */
  afterRollback(): void {
    this.#changes = NaN
  }

  /** Counts a change of this connection. */
  #change(): number {
    this.#changes = NaN
    return ++this.#count
  }

  #countChanges(): number {
    return this.#askChanges.get() ?? NaN
  }
}

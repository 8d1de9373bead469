import type { Database, Statement } from 'better-sqlite3'
import type { ChangeStamp } from '../../domain/user-group/user-group-store.ts'

/** Where there are more user groups, some share a slot, and a change of one counts for all of them. */
const slotCount = 65_536

/**
 * Knows of each user group whether it was changed since it was read, without reading it again. Changes are counted. Those of this
 * connection are told by triggers of its own, whatever statement makes them. That another made some, the file tells, but not of which
 * user groups: they count for all.
 */
export class ChangeTracker {
  #count = 0
  /** The last change that may have been one of any user group. */
  #lastOfAny = 0
  /** The last one of the user groups of each slot. */
  readonly #lastOf = new Float64Array(slotCount)
  /** Changes when another connection has written, whatever that was. */
  readonly #askVersion: Statement<[], number>
  #version: number
  readonly #askChanges: Statement<[], number>
  /** Of all connections, as the file counted them last; NaN, which equals nothing, where that is not known. */
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
    // One that is made anew was deleted before. A schema or data source is not changed without the version of its registry.
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

  /** Of the data: another one where another connection has written. */
  get version(): number {
    return this.#askVersion.get() as number
  }

  /** Of what is read now. To be compared by `isUnchanged`. */
  get current(): ChangeStamp {
    return String(this.#count)
  }

  isUnchanged(teamId: number, stamp: ChangeStamp): boolean {
    const count = Number(stamp)
    return count >= this.#lastOfAny && count >= (this.#lastOf[teamId % slotCount] as number)
  }

  /** To be called first in each transaction, which then reads nothing older than what is looked at here. */
  look(): void {
    const { version } = this
    if (version === this.#version && !Number.isNaN(this.#changes)) return
    const changes = this.#countChanges()
    if (version !== this.#version && changes !== this.#changes) this.#lastOfAny = ++this.#count
    this.#changes = changes
    // Last: where counting fails, the next transaction finds it still to be done.
    this.#version = version
  }

  /** To be called last in each transaction: nobody else writes before it is committed, so that what is counted is its own. */
  beforeCommit(): void {
    if (Number.isNaN(this.#changes)) this.#changes = this.#countChanges()
  }

  /** To be called where a transaction was not committed. */
  afterRollback(): void {
    this.#changes = NaN
  }

  /** One of this connection. */
  #change(): number {
    this.#changes = NaN
    return ++this.#count
  }

  #countChanges(): number {
    return this.#askChanges.get() ?? NaN
  }
}

import type { Database, Statement } from 'better-sqlite3'
import type { Stamp } from '../../domain/store.ts'

/** Where there are more user groups, some share a slot, and a change of one counts for all of them. */
const slotCount = 65_536

/**
 * Knows of each user group whether it was changed since it was read, without reading it again. Changes are counted. Those of this
 * connection are told by triggers of its own, whatever statement makes them; that another made some, SQLite tells, but not which: they
 * count for all user groups.
 */
export class Stamps {
  #count = 0
  /** The last change that may have been one of any user group. */
  #lastOfAny = 0
  /** The last one of the user groups of each slot. */
  readonly #lastOf = new Float64Array(slotCount)
  /** Changes when another connection has written. */
  readonly #askVersion: Statement<[], number>
  #version: number

  constructor(database: Database) {
    database.function('user_group_changed', (teamId: number) => {
      this.#lastOf[teamId % slotCount] = ++this.#count
      return null
    })
    database.function('registry_changed', () => {
      this.#lastOfAny = ++this.#count
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
    this.#version = this.#askVersion.get() as number
  }

  /** Of what is read now. To be compared by `isUnchanged`. */
  get current(): Stamp {
    return String(this.#count)
  }

  isUnchanged(teamId: number, stamp: Stamp): boolean {
    const count = Number(stamp)
    return count >= this.#lastOfAny && count >= (this.#lastOf[teamId % slotCount] as number)
  }

  /**
   * To be called first in each transaction, which then reads nothing older than what is looked at here. Tells the version of the data,
   * which is another one where another connection has written.
   */
  look(): number {
    const version = this.#askVersion.get() as number
    if (version !== this.#version) this.#lastOfAny = ++this.#count
    this.#version = version
    return version
  }
}

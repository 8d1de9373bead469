import type { Database, Statement } from 'better-sqlite3'
import type { SecretKeyCheck } from '../../domain/secret-key/secret-key-store.ts'

interface Row {
  key_id: string
  sealed: Uint8Array
}

export class SecretKeys {
  readonly #insert: Statement<[string, Uint8Array]>
  readonly #select: Statement<[string], Row>
  readonly #selectAll: Statement<[], Row>
  readonly #delete: Statement<[string]>
  readonly #retire: Statement<[string]>
  readonly #selectRetired: Statement<[], string>

  constructor(database: Database) {
    this.#insert = database.prepare(
      'INSERT INTO secret_key_check (key_id, sealed) VALUES (?, ?) ON CONFLICT (key_id) DO NOTHING',
    )
    this.#select = database.prepare('SELECT * FROM secret_key_check WHERE key_id = ?')
    this.#selectAll = database.prepare('SELECT * FROM secret_key_check ORDER BY key_id')
    this.#delete = database.prepare('DELETE FROM secret_key_check WHERE key_id = ?')
    this.#retire = database.prepare(
      'INSERT INTO retired_secret_key (key_id) VALUES (?) ON CONFLICT (key_id) DO NOTHING',
    )
    this.#selectRetired = database
      .prepare<[], string>('SELECT key_id FROM retired_secret_key ORDER BY key_id')
      .pluck()
  }

  listChecks(): SecretKeyCheck[] {
    return this.#selectAll.all().map(checkOf)
  }

  addCheck({ keyId, sealed }: SecretKeyCheck): SecretKeyCheck {
    this.#insert.run(keyId, sealed)
    return checkOf(this.#select.get(keyId) as Row)
  }

  deleteCheck(keyId: string): void {
    this.#delete.run(keyId)
  }

  /** Only one transaction writes at a time: an earlier write is visible, and a later one finds the retired key. */
  retire(keyId: string): void {
    this.#retire.run(keyId)
  }

  listRetired(): string[] {
    return this.#selectRetired.all()
  }
}

function checkOf(row: Row): SecretKeyCheck {
  return { keyId: row.key_id, sealed: row.sealed }
}

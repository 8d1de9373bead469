import type { SecretKeyCheck } from '../../domain/store.ts'
import type { Primary } from './primary.ts'
import type { Retry } from './retry.ts'

interface SecretKeyCheckRow {
  readonly key_id: string
  readonly sealed: Uint8Array
}

export class SecretKeyChecks {
  readonly #primary: Primary
  readonly #retry: Retry

  constructor(primary: Primary, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
  }

  list(): Promise<SecretKeyCheck[]> {
    return this.#retry.run(async () => {
      const rows = await this.#primary.query<SecretKeyCheckRow>(
        'SELECT * FROM secret_key_check ORDER BY key_id',
      )
      return rows.map(checkOf)
    })
  }

  add({ keyId, sealed }: SecretKeyCheck): Promise<SecretKeyCheck> {
    return this.#retry.run(async (attempt) => {
      await attempt.change((sent) =>
        this.#primary.query(
          'INSERT INTO secret_key_check (key_id, sealed) VALUES ($1, $2) ON CONFLICT (key_id) DO NOTHING',
          [keyId, sealed],
          sent,
        ),
      )
      const [row] = await this.#primary.query<SecretKeyCheckRow>(
        'SELECT * FROM secret_key_check WHERE key_id = $1',
        [keyId],
      )
      return checkOf(row as SecretKeyCheckRow)
    })
  }

  async delete(keyId: string): Promise<void> {
    await this.#retry.run(() =>
      this.#primary.query('DELETE FROM secret_key_check WHERE key_id = $1', [keyId]),
    )
  }
}

function checkOf(row: SecretKeyCheckRow): SecretKeyCheck {
  return { keyId: row.key_id, sealed: row.sealed }
}

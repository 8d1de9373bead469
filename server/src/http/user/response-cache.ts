import { hash } from 'node:crypto'
import type { JsonText } from '../../domain/json/json-text.ts'
import type { ChangeStamp } from '../../domain/user-group/user-group-store.ts'
import type { Store } from '../../domain/store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { keyBytes, longestText, TextRing } from './ring-buffer-cache.ts'
import type { Operation } from '../operations.ts'
import { pack, unpack, type PackedResponse } from './cache-entry-codec.ts'

export type CachedOperation = Extract<Operation, 'getOrCreate' | 'introspect'>

/** What a call is answered with. */
export interface CachedResponse {
  readonly json: string
  /** Which user group it tells of; null where it tells of none. */
  readonly teamId: number | null
  /** Of the state that it tells of, where the same call gets the same answer for as long as that lasts. */
  readonly stamp?: ChangeStamp | undefined
  /** Those in it, which may stand in the question too. */
  readonly properties?: JsonText | null | undefined
}

/**
 * The answers that were given lately, by what was asked. Before one is given again, the store says that the user group is still as it was, as
 * it would for a look-up: what is spared is to read the body, the user group, and its sealed token (decision 0026).
 */
export class ResponseCache {
  readonly #store: Pick<Store, 'userGroups'>
  readonly #texts = new TextRing()

  constructor(store: Pick<Store, 'userGroups'>) {
    this.#store = store
  }

  /** @throws Fault `unavailable`, and what `answer` throws */
  async get(
    operation: CachedOperation,
    { workspaceId, environment }: TenantScope,
    body: Buffer,
    response: () => Promise<CachedResponse>,
  ): Promise<CachedResponse> {
    if (body.length > longestText) return response()
    const asked = Buffer.concat([Buffer.from(`${operation}/${workspaceId}/${environment}/`), body])
    // Of 128 bits: nobody finds another body that has the key of this one.
    const key = Buffer.from(hash('sha256', asked, 'binary').slice(0, keyBytes), 'binary')
    const text = this.#texts.get(key)
    if (text !== undefined) {
      const known = parse(text)
      const { teamId, stamp } = known
      if (await this.#store.userGroups.isUnchanged(workspaceId, environment, teamId, stamp))
        return { json: unpack(known, body.toString()), teamId }
    }
    const responded = await response()
    const { json, teamId, stamp, properties } = responded
    const kept = stamp === undefined ? undefined : pack(json, body.toString(), properties ?? '')
    if (kept !== undefined)
      this.#texts.set(key, [teamId, stamp, kept.start, kept.length, kept.packed].join(' '))
    return responded
  }
}

const textPattern = /^(\d+) (\S+) (\d+) (\d+) (.*)$/s

function parse(text: string): PackedResponse & { readonly teamId: number; readonly stamp: ChangeStamp } {
  const [, teamId, stamp = '', start, length, packed = ''] = textPattern.exec(text) ?? []
  return { teamId: Number(teamId), stamp, start: Number(start), length: Number(length), packed }
}

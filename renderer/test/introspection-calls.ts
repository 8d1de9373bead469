import assert from 'node:assert/strict'
import { IntrospectionClient, IntrospectionError } from '../src/index.ts'

export const apiToken = 'uga_customer_secretofthebackend'
export const token = 'ugt_customer_secretofthepage'

export function client(url: string, options = {}): IntrospectionClient {
  // Long, so that a busy machine is no reason to try again.
  return new IntrospectionClient({ url, apiToken, deadlineMs: 60_000, ...options })
}

/** What it fails with: an error that tells nothing secret. */
export async function failure(promise: Promise<unknown>): Promise<IntrospectionError> {
  const error: unknown = await promise.then(
    () => assert.fail('it does not fail'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof IntrospectionError, String(error))
  assert.doesNotMatch(
    `${error.message} ${error.stack} ${JSON.stringify(error)}`,
    /secretof|said by|customer-42/,
  )
  return error
}

import assert from 'node:assert/strict'
import { IntrospectionClient, IntrospectionError } from '../src/index.ts'

export const apiToken = 'uga_customer_secretofthebackend'
export const token = 'ugt_customer_secretofthepage'

export function client(url: string, options = {}): IntrospectionClient {
  // Long, so that a slow machine causes no retry.
  return new IntrospectionClient({ url, apiToken, deadlineMs: 60_000, ...options })
}

/** Returns the error of a rejected promise. Asserts that it reveals no secret. */
export async function failure(promise: Promise<unknown>): Promise<IntrospectionError> {
  const error: unknown = await promise.then(
    () => assert.fail('the promise did not reject'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof IntrospectionError, String(error))
  assert.doesNotMatch(
    `${error.message} ${error.stack} ${JSON.stringify(error)}`,
    /secretof|said by|customer-42/,
  )
  return error
}

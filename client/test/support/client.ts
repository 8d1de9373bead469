import assert from 'node:assert/strict'
import { inspect as deepInspect } from 'node:util'
import { ServiceError, TransportError } from '../../src/errors.ts'
import { UserGroupClient, type UserGroupClientOptions } from '../../src/index.ts'

export const apiToken = 'uga_customer_clientoftests'
export const token = 'ugt_customer_ofauseringroup'

export function clientOf(origin: string, options: Partial<UserGroupClientOptions> = {}): UserGroupClient {
  return new UserGroupClient({ origin, apiToken, ...options })
}

/** Returns the error of a rejected promise. Asserts that the error holds no token, in any printed form. */
export async function serviceFailure(call: Promise<unknown>): Promise<ServiceError> {
  const error = await failureOf(call)
  assert.ok(error instanceof ServiceError, String(error))
  return error
}

export async function transportFailure(call: Promise<unknown>): Promise<TransportError> {
  const error = await failureOf(call)
  assert.ok(error instanceof TransportError, String(error))
  return error
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  let error: unknown
  try {
    await call
  } catch (thrown) {
    error = thrown
  }
  assert.ok(error !== undefined, 'the call succeeded')
  assertNoToken(error)
  return error
}

export function assertNoToken(value: unknown): void {
  const { stack, cause } = value as Error
  const texts = [inspect(value), JSON.stringify(value), String(value), String(stack), inspect(cause)]
  for (const text of texts) assert.doesNotMatch(text, /ug[at]_(customer|testing)_\w/)
}

function inspect(value: unknown): string {
  return deepInspect(value, { depth: Infinity, showHidden: true })
}

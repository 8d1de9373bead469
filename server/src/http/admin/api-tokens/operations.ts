import { defaultOverlapMs } from '../../../domain/api-token/api-token.ts'
import { type Operations, tagged } from '../operation.ts'
import { shownApiToken } from './responses.ts'
import * as schemas from './schemas.ts'

export const apiTokenOperations = tagged('API tokens and workspaces', {
  listApiTokens: {
    method: 'GET',
    path: '/api-tokens',
    scope: 'observe',
    summary: 'List the API tokens of this workspace and environment',
    description: 'Also revoked ones.',
    response: schemas.ApiTokenListResponse,
    handle: async ({ caller }, { apiTokens }) => ({
      body: { apiTokens: (await apiTokens.list(caller)).map(shownApiToken) },
    }),
  },
  createApiToken: {
    method: 'POST',
    path: '/api-tokens',
    scope: 'admin',
    summary: 'Create an API token for this workspace and environment',
    description:
      'The token is shown only once. If a response is lost, list the API tokens and revoke the unknown one.',
    retry: 'never',
    body: schemas.ApiTokenFields,
    status: 201,
    response: schemas.NewApiTokenResponse,
    handle: async ({ caller, body }, { apiTokens }) => {
      const { name, scopes, expires_in_seconds } = body.value as schemas.ApiTokenFields
      const { apiToken, token } = await apiTokens.create(caller, {
        name,
        scopes,
        validForMs: expires_in_seconds === undefined ? null : expires_in_seconds * 1000,
      })
      return { body: { apiToken: shownApiToken(apiToken), token } }
    },
  },
  rotateApiToken: {
    method: 'POST',
    path: '/api-tokens/{id}/rotate',
    scope: 'admin',
    summary: 'Replace an API token by a new one; both work during an overlap',
    description:
      'The new API token has the same name, scopes and lifetime, and is shown only once. The old one stops after `overlap_seconds`, or earlier if it expires earlier. Fails with `not_found` also if the API token has expired or is revoked, and with `token_superseded` if it was already rotated. If a response is lost, rotate the API token that `replaced_by` of the old one names.',
    retry: 'never',
    body: schemas.ApiTokenRotation,
    status: 201,
    response: schemas.RotatedApiTokenResponse,
    faults: ['not_found', 'token_superseded'],
    handle: async ({ caller, params, body }, { apiTokens }) => {
      const { overlap_seconds: overlap } = body.value as schemas.ApiTokenRotation
      const overlapMs = overlap === undefined ? defaultOverlapMs : overlap * 1000
      const { apiToken, token, oldApiToken } = await apiTokens.rotate(caller, params.id as number, overlapMs)
      return {
        body: { apiToken: shownApiToken(apiToken), token, replaces: shownApiToken(oldApiToken) },
      }
    },
  },
  revokeApiToken: {
    method: 'POST',
    path: '/api-tokens/{id}/revoke',
    scope: 'admin',
    summary: 'Revoke an API token permanently',
    description:
      'Takes effect everywhere within about a second. A repeated request changes nothing, not even `revoked_at`.',
    retry: { unauthenticated: 'unknown' },
    response: schemas.ApiTokenResponse,
    faults: ['not_found'],
    handle: async ({ caller, params }, { apiTokens }) => {
      const revoked = await apiTokens.revoke(caller, params.id as number)
      return { body: { apiToken: shownApiToken(revoked) } }
    },
  },
} as const satisfies Operations)

import { readResponse, success, timeOf, userGroupOf } from './admin-responses.ts'
import type {
  ApiToken,
  LeakedToken,
  NewApiToken,
  NewWorkspace,
  RotatedApiToken,
  Workspace,
} from './admin-types.ts'
import { badResponse } from './errors.ts'
import {
  isArray,
  isBoolean,
  isCount,
  isCountOrNull,
  isEnvironment,
  isObject,
  isOneOf,
  isText,
  isTextOrNull,
  isTexts,
  isTimeText,
  isTimeTextOrNull,
  isUndefinedOr,
  read,
  type Shape,
} from './shape.ts'
import type { components } from './wire.ts'

// Readers for the responses about API tokens, leaked tokens and workspaces of `/admin/v1`.

type Wire = components['schemas']

const apiTokenShape: Shape<Wire['ApiToken']> = {
  id: isCount,
  name: isText,
  api_environment_tag: isEnvironment,
  // Any strings, so that scopes of newer services are passed on.
  scopes: isTexts,
  created_at: isTimeText,
  expires_at: isTimeTextOrNull,
  revoked_at: isTimeTextOrNull,
  last_used_at: isTimeTextOrNull,
  replaced_by: isCountOrNull,
  rate_limit: isTextOrNull,
}
const workspaceShape: Shape<Wire['NewWorkspaceResponse']['workspace']> = {
  id: isCount,
  name: isText,
  created_at: isTimeText,
}
const leakedShape: Shape<Wire['LeakedTokenResponse']> = {
  success,
  kind: isOneOf(['user_group_token', 'api_token', 'unknown']),
  works: isBoolean,
  user_group: isUndefinedOr(isObject),
  valid_until: isUndefinedOr(isTimeTextOrNull),
  rotated: isUndefinedOr(isBoolean),
  api_token: isUndefinedOr(isObject),
}

export function readLeakedToken(json: unknown): LeakedToken {
  const { kind, works, ...found } = readResponse<Wire['LeakedTokenResponse']>(json, leakedShape)
  if (kind === 'unknown') return { kind, works }
  if (kind === 'api_token') return { kind, works, apiToken: apiTokenOf(found.api_token) }
  const { valid_until: validUntil, rotated } = found
  if (validUntil === undefined || rotated === undefined)
    throw badResponse('a user group token lacks valid_until or rotated')
  return { kind, works, userGroup: userGroupOf(found.user_group), validUntil: timeOf(validUntil), rotated }
}

export function readApiTokens(json: unknown): ApiToken[] {
  const { api_tokens } = readResponse<Wire['ApiTokenListResponse']>(json, { success, api_tokens: isArray })
  return api_tokens.map(apiTokenOf)
}

export function readApiToken(json: unknown): ApiToken {
  return apiTokenOf(readResponse<Wire['ApiTokenResponse']>(json, { success, api_token: isObject }).api_token)
}

export function readNewApiToken(json: unknown): NewApiToken {
  const response = readResponse<Wire['NewApiTokenResponse']>(json, {
    success,
    api_token: isObject,
    token: isText,
  })
  return { apiToken: apiTokenOf(response.api_token), token: response.token }
}

export function readRotatedApiToken(json: unknown): RotatedApiToken {
  const response = readResponse<Wire['ApiTokenRotationResponse']>(json, {
    success,
    api_token: isObject,
    token: isText,
    replaces: isObject,
  })
  return {
    apiToken: apiTokenOf(response.api_token),
    token: response.token,
    replaces: apiTokenOf(response.replaces),
  }
}

export function readWorkspaces(json: unknown): Workspace[] {
  const { workspaces } = readResponse<Wire['WorkspaceListResponse']>(json, { success, workspaces: isArray })
  return workspaces.map(workspaceOf)
}

export function readNewWorkspace(json: unknown): NewWorkspace {
  const response = readResponse<Wire['NewWorkspaceResponse']>(json, {
    success,
    workspace: isObject,
    api_token: isObject,
    token: isText,
  })
  return {
    workspace: workspaceOf(response.workspace),
    apiToken: apiTokenOf(response.api_token),
    token: response.token,
  }
}

function apiTokenOf(value: unknown): ApiToken {
  const { id, name, scopes, ...token } = read(value, 'an API token', apiTokenShape)
  return {
    id,
    name,
    environment: token.api_environment_tag,
    scopes,
    createdAt: Date.parse(token.created_at),
    expiresAt: timeOf(token.expires_at),
    revokedAt: timeOf(token.revoked_at),
    lastUsedAt: timeOf(token.last_used_at),
    replacedBy: token.replaced_by,
    rateLimit: token.rate_limit,
  }
}

function workspaceOf(value: unknown): Workspace {
  const { id, name, created_at } = read(value, 'a workspace', workspaceShape)
  return { id, name, createdAt: Date.parse(created_at) }
}

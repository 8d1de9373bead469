import { readFileSync } from 'node:fs'
import { ConfigError, type Config } from '../config/settings.ts'
import { errorCodeOf } from '../domain/util/error-code.ts'
import type { ProviderSettings } from '../http/console/identity-provider.ts'

/** Returns the OpenID Connect settings with the client secret; null if people do not sign in. @throws ConfigError */
export function providerOf(config: Config): ProviderSettings | null {
  const { UGS_OIDC_ISSUER: issuer, UGS_OIDC_CLIENT_ID: clientId, UGS_OIDC_ROLES: roles } = config
  if (issuer === undefined || clientId === undefined || roles === undefined) return null
  return { issuer, clientId, roles, clientSecret: secretIn(config.UGS_OIDC_CLIENT_SECRET_FILE) }
}

function secretIn(file: string | undefined): string | null {
  if (file === undefined) return null
  const name = 'UGS_OIDC_CLIENT_SECRET_FILE'
  let secret: string
  try {
    secret = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError([`${name}: ${file} cannot be read (${errorCodeOf(error) ?? 'error'})`])
  }
  if (secret === '') throw new ConfigError([`${name}: ${file} is empty; write the client secret into it`])
  return secret
}

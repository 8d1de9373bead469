import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Scope } from './scope.ts'

type Claims = Record<string, unknown>

/** An OpenID Connect provider whose ID tokens the test decides. */
export interface FakeProvider {
  readonly issuer: string
  /** Claims of the next ID tokens, added to correct ones. Undefined removes a claim. */
  claims: Claims
  /** Members that the next responses have besides or instead of the correct ones, and their status. Undefined removes a member. */
  answers: { discovery?: object; token?: readonly [number, object]; jwks?: readonly [number, object] }
  /** True if the next ID tokens have the signature of another key. */
  isForged: boolean
  /** True if every request gets a 503. */
  isDown: boolean
}

export const clientId = 'console'
export const clientSecret = 'secret-of-the-console'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })

export async function startProvider(t: Scope): Promise<FakeProvider & { approve(url: string): string }> {
  /** Authorization requests by their code. */
  const codes = new Map<string, URLSearchParams>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url?.startsWith('/authorize') === true) return signIn(request.url, response)
      const form = new URLSearchParams(Buffer.concat(chunks).toString())
      const [status, body] = provider.isDown ? [503, {}] : respond(request.url ?? '', form)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  /** Redirects the browser to the callback, as if the person had signed in. */
  function signIn(path: string, response: ServerResponse): void {
    const { origin } = new URL(new URL(path, issuer).searchParams.get('redirect_uri') ?? '')
    response.writeHead(302, { location: origin + provider.approve(issuer + path) }).end()
  }

  function respond(path: string, form: URLSearchParams): [number, object] {
    const { answers } = provider
    if (path === '/jwks')
      return [
        answers.jwks?.[0] ?? 200,
        { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }], ...answers.jwks?.[1] },
      ]
    if (path === '/token') {
      const [status, body] = exchange(form)
      return [answers.token?.[0] ?? status, { ...body, ...answers.token?.[1] }]
    }
    return [
      200,
      {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...answers.discovery,
      },
    ]
  }

  function exchange(form: URLSearchParams): [number, object] {
    const code = form.get('code') ?? ''
    const request = codes.get(code)
    codes.delete(code)
    if (form.get('client_secret') !== clientSecret) return [401, { error: 'invalid_client' }]
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (request?.get('code_challenge') !== challenge) return [400, { error: 'invalid_grant' }]
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      ...{ iss: issuer, aud: clientId, sub: 'ada', exp: now + 60, iat: now, nonce: request.get('nonce') },
      ...provider.claims,
    }
    const text = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const signed = `${text({ alg: 'RS256', kid: 'k' })}.${text(claims)}`
    const key = provider.isForged ? other.privateKey : privateKey
    const signature = sign('sha256', Buffer.from(signed), key).toString('base64url')
    return [200, { access_token: 'x', token_type: 'Bearer', id_token: `${signed}.${signature}` }]
  }

  const provider = {
    ...{
      issuer,
      claims: {} as Claims,
      answers: {} as FakeProvider['answers'],
      isForged: false,
      isDown: false,
    },
    /** Lets the person sign in, and returns the path of the callback. */
    approve(url: string): string {
      const request = new URL(url).searchParams
      const code = String(codes.size + Math.random())
      codes.set(code, request)
      const { pathname } = new URL(request.get('redirect_uri') ?? '')
      return `${pathname}?${String(new URLSearchParams({ code, state: request.get('state') ?? '', iss: issuer }))}`
    },
  }
  return provider
}

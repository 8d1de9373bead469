import type { FirstStart } from '../runtime/first-start.ts'
import { version } from '../version.ts'
import { printable } from './output.ts'

/** A service that has started. */
export interface Started {
  readonly origin: string
  /** `UGS_PUBLIC_URL`. */
  readonly publicUrl?: string | undefined
  readonly store: string
  readonly metricsUrl?: string | undefined
  readonly hasConsole: boolean
  readonly firstStart: FirstStart
}

const createApiToken = 'npx user-group-service api-token create --environment Testing --name backend'

/** Returns the text for a person at a terminal. It fits a screen of 24 lines, and lines of 100 characters unless a path is long. */
export function startBanner(started: Started): string {
  const { origin, publicUrl = origin, store, metricsUrl, hasConsole, firstStart } = started
  const { apiTokens, signInLink, lacksApiToken } = firstStart
  const lines = [
    `User Group Service ${version} listens on ${origin}`,
    '',
    `  Store    ${printable(store)}`,
    ...(metricsUrl === undefined ? [] : [`  Metrics  ${metricsUrl}`]),
    ...(hasConsole ? [`  Console  ${signInLink ?? `${publicUrl}/console`}`] : []),
    ...(hasConsole ? [`           ${linkHint(signInLink !== undefined)}`] : []),
    `  API      ${publicUrl}/docs`,
  ]
  if (lacksApiToken)
    lines.push(
      '',
      'There is no API token yet. Create one, and a user group:',
      '',
      ...indented(firstRequestWithNewToken(origin)),
    )
  if (apiTokens !== undefined) {
    lines.push(
      '',
      'API tokens, shown only once. Keep them with the secrets of your backend:',
      '',
      `  Customer  ${apiTokens.Customer}`,
      `  Testing   ${apiTokens.Testing}`,
      '',
      'Create a user group, then a session for the page of each viewer (POST /api/user/create-session):',
      '',
      ...indented(firstRequest(origin, apiTokens.Testing)),
    )
  }
  return `${lines.join('\n')}\n`
}

/** Returns the lines of a shell command. */
function firstRequest(origin: string, apiToken: string): string[] {
  return [
    `curl -X GET ${origin}/api/user \\`,
    `  -H "Authorization: Token ${apiToken}" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"user_group_id":"customer-42","name":"Example customer"}'`,
  ]
}

function firstRequestWithNewToken(origin: string): string[] {
  return [`UGS_API_TOKEN=$(${createApiToken})`, ...firstRequest(origin, '$UGS_API_TOKEN')]
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

function linkHint(isSignInLink: boolean): string {
  return isSignInLink
    ? 'Signs you in once, within 15 minutes. For another, run `npx user-group-service open`.'
    : 'To open it signed in, run `npx user-group-service open`.'
}

/** Returns the same for a program: lines of JSON, in the form of the log. They have no sign-in link, because they may be kept. */
export function startLines({ origin, store, metricsUrl, firstStart }: Started, time: number): string {
  const { apiTokens, lacksApiToken } = firstStart
  const line = (members: object, msg: string) => JSON.stringify({ level: 30, time, ...members, msg })
  return [
    line({ origin, store, metrics: metricsUrl }, `User Group Service listens on ${origin}`),
    ...(lacksApiToken
      ? [
          line(
            { first_request: firstRequestWithNewToken(origin).join('\n') },
            `there is no API token yet; create one: ${createApiToken}`,
          ),
        ]
      : []),
    ...(apiTokens === undefined
      ? []
      : [
          line(
            { api_tokens: apiTokens, first_request: firstRequest(origin, apiTokens.Testing).join('\n') },
            'API tokens were created; they are shown only once',
          ),
        ]),
  ].join('\n')
}

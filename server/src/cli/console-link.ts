import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Option, type Command } from 'commander'
import { readConfig, settings } from '../config/settings.ts'
import { signInLinkUrl } from '../contract/console.ts'
import type { ApiToken } from '../domain/api-token/api-token.ts'
import { environments } from '../domain/environment.ts'
import { canManage, consoleApiToken, createSignInLink } from '../domain/console-session/sign-in-link.ts'
import type { Store } from '../domain/store.ts'
import { configuredOrigin } from '../runtime/configured-origin.ts'
import { operator } from '../runtime/operator.ts'
import { CommandError, UsageError } from './errors.ts'
import { argument, jsonOption, parseCount, workspaceOption } from './options.ts'
import { formatTime, printLine, printMessage, printOutput } from './output.ts'
import { callerOf, withStore, type TenantScopeOptions } from './with-store.ts'

interface LinkOptions extends TenantScopeOptions {
  apiToken?: number
  url?: string
  check: boolean
}

export function addConsoleCommands(program: Command): void {
  linkCommand(program, 'console-link')
    .description('Print a link that signs in to the web console once, within 15 minutes.')
    .addOption(jsonOption())
    .action(async (options: LinkOptions) => {
      const { link, expiresAt, apiToken } = await createLink(options)
      const { id, name, environment } = apiToken
      const until = formatTime(expiresAt)
      const message = `Signs in to ${environment} once, until ${until}. Changes are recorded under API token ${id} "${name}".`
      const json = { link, expires_at: until, environment, api_token: { id, name } }
      printOutput({ json, secret: link, message }, options.json)
    })

  linkCommand(program, 'open')
    .description('Open the web console in the browser of this machine, signed in.')
    .action(async (options: LinkOptions) => {
      const { origin, link, apiToken } = await createLink(options)
      if (await openBrowser(link)) {
        printMessage(`Opened ${origin}/console in the browser, signed in to ${apiToken.environment}.`)
        return
      }
      printMessage('No browser can be opened here. Open this link, which works once within 15 minutes:')
      printLine(link)
    })
}

function linkCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .addOption(
      new Option('--environment <environment>', 'environment').choices(environments).default('Testing'),
    )
    .addOption(workspaceOption())
    .option(
      '--api-token <id>',
      'API token whose permissions and name the session has; replaces --environment and --workspace (default: one for your system user)',
      parseCount,
    )
    .option(
      '--url <url>',
      'address of the service in your browser, such as https://ugs.example.com (default: UGS_PUBLIC_URL, or from HOST and PORT)',
      argument((text) => settings.UGS_PUBLIC_URL.parse(text) as string),
    )
    .option('--no-check', 'create the link although this machine does not reach that address')
}

async function createLink(options: LinkOptions) {
  const origin = await originOf(options)
  const [actor, now] = [operator(), Date.now()]
  return withStore(async (store) => {
    if (options.check) await checkConsole(origin)
    const apiToken =
      options.apiToken === undefined
        ? await consoleApiToken(store, { ...(await callerOf(store, options)), now })
        : await findAdminToken(store, options.apiToken, now)
    const { secret, expiresAt } = await createSignInLink(store, { apiToken, actor, now })
    return { origin, link: signInLinkUrl(origin, secret), expiresAt, apiToken }
  })
}

async function findAdminToken(store: Store, id: number, now: number): Promise<ApiToken> {
  const apiToken = (await store.apiTokens.list()).find((candidate) => candidate.id === id)
  if (apiToken === undefined)
    throw new CommandError(`there is no API token ${id}; see \`ugs api-token list\``)
  if (!canManage(apiToken, now))
    throw new CommandError(
      `API token ${id} is expired, revoked or lacks the scope observe, support or admin; choose another with \`ugs api-token list\``,
    )
  return apiToken
}

async function originOf({ url }: LinkOptions): Promise<string> {
  if (url !== undefined) return url
  const config = readConfig(process.env)
  if (config.UGS_PUBLIC_URL !== undefined) return config.UGS_PUBLIC_URL
  if (config.PORT === 0) throw new UsageError('PORT is 0, so the address is unknown; set --url')
  return configuredOrigin(config)
}

/** @throws CommandError if no console is at this address */
async function checkConsole(origin: string): Promise<void> {
  const response = await fetch(`${origin}/console`).catch(() => undefined)
  if (response === undefined)
    throw new CommandError(
      `no service responds at ${origin}; start it with \`ugs serve\`, set --url or HOST and PORT as for the service, or add --no-check`,
    )
  if (!response.ok)
    throw new CommandError(
      `${origin}/console responds with status ${response.status}; is UGS_CONSOLE off, or is --url another program?`,
    )
}

const browserWaitMs = 5000

/** Opens the URL in the default browser. Returns false if that is not possible. */
async function openBrowser(url: string): Promise<boolean> {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  const hasScreen = process.platform !== 'linux' || Boolean(DISPLAY ?? WAYLAND_DISPLAY)
  if (!hasScreen) return false
  const [command, ...args] = browserCommands[process.platform] ?? ['xdg-open']
  const child = spawn(command, [...args, url], {
    stdio: 'ignore',
    detached: true,
    windowsVerbatimArguments: true,
  })
  const exited = once(child, 'exit').then(
    ([code]) => code === 0,
    () => false,
  )
  // A browser in the foreground does not end.
  const isOpen = await Promise.race([exited, sleep(browserWaitMs, true, { ref: false })])
  child.unref()
  return isOpen
}

const browserCommands: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // `start` takes its first quoted argument as a title.
  win32: ['cmd', '/c', 'start', '""'],
}

/// <reference types="vite/client" />
import assert from 'node:assert/strict'
import { after, before, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { UserEvent } from '@testing-library/user-event'
import { createElement } from 'react'
import { requirePackage } from '../../../scripts/install-packages.js'
import { manage, type ManagedEnvironment } from '../../../server/test/support/admin-api.ts'
import { sendRequest } from '../../../server/test/support/http.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'

const { Window } = requirePackage('tools/browser', 'happy-dom') as typeof import('happy-dom')
const window = new Window({ url: 'http://localhost' })
for (const name of Object.getOwnPropertyNames(window)) {
  const property = Object.getOwnPropertyDescriptor(window, name)
  if (property !== undefined && !(name in globalThis)) Object.defineProperty(globalThis, name, property)
}
// Text areas that grow with their text wait for fonts.
Object.defineProperty(document, 'fonts', { value: new EventTarget() })
// These look for the globals of a browser when they are loaded.
const { configure, fireEvent, waitFor, within } = requirePackage(
  'tools/browser',
  '@testing-library/dom',
) as typeof import('@testing-library/dom')
const { userEvent } = requirePackage(
  'tools/browser',
  '@testing-library/user-event',
) as typeof import('@testing-library/user-event')
const { renderPage } = await import('../../src/root.tsx')
const { SessionGate } = await import('../../src/session/session-gate.tsx')
const { signIn } = await import('../../src/session/requests.ts')
const { noSession } = await import('../../src/session/store.ts')
const { router } = await import('../../src/router.tsx')
const { publicPath } = await import('../../src/public-path.ts')
const { queryClient } = await import('../../src/api/query-client.ts')

configure({
  // Generous for slow machines. Waits end as soon as possible.
  asyncUtilTimeout: 60_000,
  // Computing which elements are hidden takes most of the time of a query, and printing the DOM most of that of a wait.
  defaultHidden: true,
  getElementError: (message) => {
    const parts = [...document.querySelectorAll('main, [role=dialog]')].map(({ textContent }) => textContent)
    return new Error([message, ...parts].join('\n'))
  },
})
// Timers that remove unused data would keep the process running.
const { queries, ...others } = queryClient.getDefaultOptions()
queryClient.setDefaultOptions({ ...others, queries: { ...queries, gcTime: Infinity } })

type Text = string | RegExp

/** The console in the DOM of this process. A string finds texts that contain it, in any case, and the whole name of an element. */
export interface OpenedPage {
  readonly user: UserEvent
  /** Resolves with the first element with this text, once there is one. */
  readonly see: (text: Text, inside?: HTMLElement) => Promise<HTMLElement>
  /** Resolves once no element has this text. */
  readonly gone: (text: Text, inside?: HTMLElement) => Promise<void>
  /** Resolves with the first element of this role and name, once there is one. */
  readonly find: (role: string, name?: Text, inside?: HTMLElement) => Promise<HTMLElement>
  /** Opens another page. */
  readonly navigate: (path: string) => Promise<void>
  /** Resolves once the path below `/console` with its query matches. */
  readonly at: (path: RegExp) => Promise<void>
  readonly count: (role: string, name?: Text, inside?: HTMLElement) => number
  readonly click: (role: string, name: Text, inside?: HTMLElement) => Promise<void>
  /** Replaces the text of a field. */
  readonly fill: (label: Text, text: string) => Promise<void>
  /** Resolves with the first row that contains all texts, once there is one. */
  readonly row: (...texts: readonly string[]) => Promise<HTMLElement>
  /** Responds to requests whose path matches with this error of the service, until the returned function is called. */
  readonly fail: (path: RegExp, status: number, error: object) => () => void
  /** Responds to requests whose path matches instead of the service. */
  readonly respond: (path: RegExp, response: Respond) => void
  /** Keeps the next response to a request whose path matches. Resolves once it is requested. */
  readonly hold: (path: RegExp) => Promise<HeldResponse>
  /** Paths of all requests. */
  readonly requested: readonly string[]
  /** Everything that the page shows and that it keeps in the browser. */
  readonly content: () => string
  /** Deletes the cookies, as if the session had ended. */
  readonly loseCookies: () => void
  /** Shows the console again with what the browser keeps: cookies, storage and address. */
  readonly reload: () => Promise<void>
}

/** `send` requests the response of the service, to this request or to that of another path. */
type Respond = (url: URL, send: (path?: string) => Promise<Response>) => Response | Promise<Response>

interface HeldResponse {
  readonly signal: AbortSignal | undefined
  readonly release: () => void
}

export interface ConsolePages extends ManagedEnvironment {
  readonly service: RunningService
  /** Returns the other environment of the same service. */
  readonly testing: () => Promise<ManagedEnvironment>
  /** Opens a page of the console with a session of this API token, or signed out if null. */
  readonly open: (t: TestContext, path: string, apiToken?: string | null) => Promise<OpenedPage>
}

/** Starts a service for a suite, and shows the console in this process without a browser. Call it in a `describe`. */
export function consolePages(settings: Record<string, string> = {}): () => ConsolePages {
  let running: ConsolePages
  let testing: Promise<ManagedEnvironment> | undefined
  const cleanups: (() => void | Promise<void>)[] = []
  const ofNode = globalThis.fetch
  before(async () => {
    const scope = { after: (done: () => void | Promise<void>) => cleanups.unshift(done) }
    const service = await startService(scope, { UGS_API_TOKEN_CACHE_MS: '0', ...settings })
    const customer = await manage(service)
    const open = async (t: TestContext, path: string, apiToken: string | null = customer.adminToken) => {
      const network = new Network(service.origin)
      globalThis.fetch = network.fetch
      if (apiToken === null) noSession()
      else await signIn(apiToken)
      const errors = t.mock.method(console, 'error', () => undefined)
      // Without a layout, dialogs find nothing to focus, and say so.
      t.mock.method(console, 'warn', () => undefined)
      const show = async () => {
        document.body.innerHTML = '<div id="root"></div>'
        const root = renderPage(createElement(SessionGate))
        // The router lives as long as the process, and has the page of the test before.
        await waitFor(() => assert.ok(document.querySelector('main h1')))
        return root
      }
      let root = await show()
      const navigation = navigate(path)
      // Signed out, the router has no page to wait for.
      if (apiToken !== null) await navigation
      const close = () => {
        root.unmount()
        queryClient.clear()
      }
      t.after(() => {
        close()
        assert.deepEqual(
          errors.mock.calls.map((call) => call.arguments),
          [],
        )
      })
      const reload = async () => {
        close()
        root = await show()
      }
      return openedPage(network, reload)
    }
    running = { ...customer, service, testing: () => (testing ??= manage(service, 'Testing')), open }
  })
  after(async () => {
    globalThis.fetch = ofNode
    for (const done of cleanups) await done()
  })
  return () => running
}

/** The cookies of one browser, and its requests. */
class Network {
  readonly cookies = new Map<string, string>()
  readonly requested: string[] = []
  readonly replacements = new Map<RegExp, Respond>()
  readonly holds = new Map<RegExp, (held: HeldResponse) => void>()
  readonly #origin: string

  constructor(origin: string) {
    this.#origin = origin
  }

  readonly fetch: typeof globalThis.fetch = (input, init = {}) => {
    const path = (input as string).slice(publicPath.length)
    this.requested.push(path)
    const signal = init.signal ?? undefined
    const aborted = new Promise<never>((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error))
    })
    return Promise.race([this.#respond(path, init), aborted])
  }

  async #respond(path: string, init: RequestInit): Promise<Response> {
    // As from a network, no response comes before the page has rendered that it waits for one.
    await setTimeout()
    const hold = [...this.holds].find(([pattern]) => pattern.test(path))
    if (hold !== undefined) {
      const [pattern, requested] = hold
      this.holds.delete(pattern)
      await new Promise<void>((release) => requested({ signal: init.signal ?? undefined, release }))
    }
    const respond = [...this.replacements].find(([pattern]) => pattern.test(path))?.[1]
    const send = (sent = path) => this.#send(sent, init)
    return respond?.(new URL(path, this.#origin), send) ?? send()
  }

  async #send(path: string, { method = 'GET', headers, body }: RequestInit): Promise<Response> {
    const cookie = [...this.cookies].map((pair) => pair.join('=')).join('; ')
    const response = await sendRequest(this.#origin, {
      ...{ method, path, headers: { ...Object.fromEntries(new Headers(headers)), cookie } },
      ...(typeof body === 'string' && { body }),
    })
    for (const set of [response.headers['set-cookie'] ?? []].flat()) {
      const [name = '', value = ''] = set.split(';', 1)[0]?.split('=') ?? []
      this.cookies.set(name, value)
    }
    return new Response(response.status === 204 ? null : response.text, {
      status: response.status,
      headers: response.headers,
    })
  }
}

/** Matches elements with the text that have no child with it. */
function smallestWith(text: Text): (content: string, element: Element | null) => boolean {
  const pattern =
    typeof text === 'string' ? new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`), 'i') : text
  const has = (element: Element) => pattern.test(element.textContent.replaceAll(/\s+/g, ' ').trim())
  const matches = (_: string, element: Element | null) =>
    element !== null && has(element) && ![...element.children].some(has)
  // Error messages show it.
  return Object.assign(matches, { toString: () => String(text) })
}

const navigate = (path: string) => router.navigate({ href: `${publicPath}/console${path}` })

function openedPage(network: Network, reload: () => Promise<void>): OpenedPage {
  const { cookies, holds, replacements, requested } = network
  const user = userEvent.setup({ delay: null, pointerEventsCheck: 0 })
  const named = (name?: Text) => (name === undefined ? {} : { name })
  const first = async (found: Promise<HTMLElement[]>) => (await found)[0] as HTMLElement
  const find = (role: string, name?: Text, inside = document.body) =>
    first(within(inside).findAllByRole(role, named(name)))
  return {
    user,
    find,
    see: (text, inside = document.body) => first(within(inside).findAllByText(smallestWith(text))),
    gone: (text, inside = document.body) =>
      waitFor(() => assert.equal(within(inside).queryAllByText(smallestWith(text)).length, 0)),
    navigate,
    at: (path) =>
      waitFor(() => {
        const { href } = router.state.resolvedLocation ?? {}
        assert.match(href ?? '', path)
      }),
    count: (role, name, inside = document.body) => within(inside).queryAllByRole(role, named(name)).length,
    click: async (role, name, inside) => {
      const element = await find(role, name, inside)
      await waitFor(() => assert.ok(!element.hasAttribute('disabled'), `${String(name)} is disabled`))
      await user.click(element)
    },
    fill: async (label, text) => {
      const selector = 'input, textarea'
      const field = await first(within(document.body).findAllByLabelText(label, { exact: false, selector }))
      field.focus()
      fireEvent.change(field, { target: { value: text } })
    },
    row: (...texts) =>
      waitFor(() => {
        const row = within(document.body)
          .getAllByRole('row')
          .find(({ textContent }) => texts.every((text) => textContent.includes(text)))
        return row ?? assert.fail(`no row has ${texts.join(' and ')}`)
      }),
    fail: (path, status, error) => {
      replacements.set(path, () => Response.json({ success: 0, error }, { status }))
      return () => void replacements.delete(path)
    },
    respond: (path, response) => void replacements.set(path, response),
    hold: (path) => new Promise((resolve) => holds.set(path, resolve)),
    requested,
    content: () =>
      JSON.stringify([
        document.documentElement.outerHTML,
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        location.href,
      ]),
    loseCookies: () => cookies.clear(),
    reload,
  }
}

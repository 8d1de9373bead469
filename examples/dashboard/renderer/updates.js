import { createHash } from 'node:crypto'
import { Refusal } from '../shared/web-server.js'

/** @typedef {import('./dashboard.js').View} View */
/** @typedef {import('./dashboard.js').Filter} Filter */
/** @typedef {import('@user-group-service/renderer').UserGroup} UserGroup */
/** @typedef {import('@user-group-service/renderer').IntrospectionClient} IntrospectionClient */
/**
 * A view, and the start of its token's SHA-256.
 * @typedef {{ type: 'view', view: View, fingerprint: string }} ViewMessage
 */
/**
 * A message to an open page.
 * @typedef {ViewMessage | { type: 'stopped' } | { type: 'failed', message: string }} Message
 */
/**
 * @typedef {object} Page
 * @property {string} token
 * @property {number} teamId
 * @property {Filter} filter
 * @property {(message: Message) => void} send
 * @property {number} version number of pushes so far
 * @property {NodeJS.Timeout | undefined} timer fires at the end of the session
 */

/** While the event feed is interrupted, tokens of open pages are introspected this often, in milliseconds. */
const pollMs = 2000
/** Maximum delay of a timer of Node.js. */
const maxTimerMs = 2_147_483_647

/** Pushes views to open pages: the first at once, and another whenever the user group of a page changes. */
export class Updates {
  #dashboard
  /** @type {Set<Page>} */
  #pages = new Set()

  /**
   * @param {object} parts
   * @param {Pick<IntrospectionClient, 'on' | 'hasLease'>} parts.introspection
   * @param {import('./dashboard.js').Dashboard} parts.dashboard
   */
  constructor({ introspection, dashboard }) {
    this.#dashboard = dashboard
    // `revoked` would tell less: a suspended user group is not in the cache when it is resumed.
    introspection.on('event', ({ teamId }) => {
      for (const page of this.#pages) if (teamId === null || teamId === page.teamId) void this.#push(page)
    })
    setInterval(() => {
      if (introspection.hasLease) return
      for (const page of this.#pages) void this.#push(page)
    }, pollMs).unref()
  }

  /**
   * Opens a page. Returns a function that closes it.
   * @param {{ token: string, userGroup: UserGroup, filter: Filter, send: (message: Message) => void }} options
   * @returns {() => void}
   */
  open({ token, userGroup, filter, send }) {
    /** @type {Page} */
    const page = { token, teamId: userGroup.teamId, filter, send, version: 0, timer: undefined }
    this.#pages.add(page)
    void this.#push(page)
    return () => {
      this.#pages.delete(page)
      clearTimeout(page.timer)
    }
  }

  /** @param {Page} page */
  async #push(page) {
    const version = ++page.version
    const message = await this.#messageFor(page)
    // An outdated view must not be shown, not even for a moment.
    if (version === page.version && this.#pages.has(page)) page.send(message)
  }

  /**
   * @param {Page} page
   * @returns {Promise<Message>}
   */
  async #messageFor(page) {
    try {
      const userGroup = await this.#dashboard.userGroupOf(page.token)
      const { expiresAt } = userGroup.token
      clearTimeout(page.timer)
      if (expiresAt !== null) {
        const delay = Math.min(Math.max(0, expiresAt - Date.now()), maxTimerMs)
        page.timer = setTimeout(() => void this.#push(page), delay).unref()
      }
      const view = this.#dashboard.view(userGroup, page.filter)
      const fingerprint = createHash('sha256').update(page.token).digest('hex').slice(0, 8)
      return { type: 'view', view, fingerprint }
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return { type: 'stopped' }
      if (error instanceof Refusal) return { type: 'failed', message: error.message }
      // Log only the name: the message may hold a customer's data.
      console.error(`a view failed: ${error instanceof Error ? error.name : 'unknown'}`)
      return { type: 'failed', message: 'Something went wrong' }
    }
  }
}

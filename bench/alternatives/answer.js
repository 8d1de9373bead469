/**
 * What each of these answers, as the service does.
 * @param {boolean} isNew
 * @param {{ id: unknown, token: unknown, name: unknown, providedId: unknown, properties: unknown }} group
 */
export function answerOf(isNew, { id, token, name, providedId, properties }) {
  return {
    success: 1,
    new_user_group: isNew,
    user_group: { team_id: id, token, name, provided_id: providedId, properties },
  }
}

/**
 * Tells the parent process, as the service does its users.
 * @param {import('node:http').Server} server
 * @param {string} apiToken
 */
export function announce(server, apiToken) {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`API token: ${apiToken}\nThe alternative listens on http://127.0.0.1:${port}`)
  process.once('SIGTERM', () => process.exit(0))
}

export const listening = { port: 0, host: '127.0.0.1' }
/** As many connections to PostgreSQL as the service has by default. */
export const poolSize = 10

/**
 * Builds the service's response.
 * @param {boolean} isNew
 * @param {{ id: unknown, token: unknown, name: unknown, providedId: unknown, properties: unknown }} group
 */
export function responseBody(isNew, { id, token, name, providedId, properties }) {
  return {
    success: 1,
    new_user_group: isNew,
    user_group: { team_id: id, token, name, provided_id: providedId, properties },
  }
}

/**
 * Prints the API token and the address for the parent process, like the service.
 * @param {import('node:http').Server} server
 * @param {string} apiToken
 */
export function announce(server, apiToken) {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`API token: ${apiToken}\nThe alternative listens on http://127.0.0.1:${port}`)
  process.once('SIGTERM', () => process.exit(0))
}

export const listening = { port: 0, host: '127.0.0.1' }
/** Default pool size of the service. */
export const poolSize = 10

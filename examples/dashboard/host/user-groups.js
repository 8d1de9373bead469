import { randomUUID } from 'node:crypto'
import { Refusal } from '../shared/web-server.js'

/** @typedef {import('./customers.js').Customer} Customer */

/** The product's client of the User Group Service. */
export class UserGroups {
  #url
  #apiToken
  #schema

  /** @param {{ url: string, apiToken: string, schema: string }} options */
  constructor({ url, apiToken, schema }) {
    this.#url = url
    this.#apiToken = apiToken
    this.#schema = schema
  }

  /**
   * Creates the customer's user group, or updates it to match the product's data. Returns its token.
   * @param {Customer} customer
   * @returns {Promise<string>}
   */
  getOrCreate({ id, name, dataSource, properties }) {
    return this.#send(
      { user_group_id: id, name, mapping: { [this.#schema]: dataSource }, properties },
      // fetch refuses a GET with a body. With this header, the service treats the POST as a GET.
      { 'x-http-method-override': 'GET' },
    )
  }

  /**
   * Replaces the customer's token. The old one stops at once.
   * @param {Customer} customer
   * @returns {Promise<string>} the new one
   */
  async rotate(customer) {
    const token = await this.getOrCreate(customer)
    return this.#send({ current_token: token }, { 'idempotency-key': randomUUID() })
  }

  /**
   * @param {object} body
   * @param {Record<string, string>} headers
   * @returns {Promise<string>}
   * @throws Refusal
   */
  async #send(body, headers) {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Token ${this.#apiToken}`,
        'content-type': 'application/json',
        ...headers,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(5000),
    }).catch(() => undefined)
    if (response?.status !== 200) {
      throw new Refusal(502, 'no_token', 'The User Group Service did not return a token')
    }
    const { user_group } = /** @type {{ user_group: { token: string } }} */ (await response.json())
    return user_group.token
  }
}

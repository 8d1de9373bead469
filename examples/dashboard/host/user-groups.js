import { UserGroupClient, UserGroupManagement } from '@user-group-service/client'

/** @typedef {import('./customers.js').Customer} Customer */

/** The user groups of the product's customers. */
export class UserGroups {
  #client
  #management
  #schema

  /**
   * @param {object} options
   * @param {string} options.origin of the User Group Service
   * @param {string} options.apiToken scope `write`
   * @param {string} options.adminToken scope `admin`, only to suspend and resume
   * @param {string} options.schema
   */
  constructor({ origin, apiToken, adminToken, schema }) {
    this.#client = new UserGroupClient({ origin, apiToken, deadlineMs: 5000 })
    this.#management = new UserGroupManagement({ origin, apiToken: adminToken, deadlineMs: 5000 })
    this.#schema = schema
  }

  /**
   * Creates the customer's user group, or updates it to match the product's data. Returns it with its token.
   * @param {Customer} customer
   */
  async getOrCreate({ id, name, dataSource, properties }) {
    const mapping = { [this.#schema]: dataSource }
    const { userGroup } = await this.#client.getOrCreate({ userGroupId: id, name, mapping, properties })
    return userGroup
  }

  /**
   * Replaces the customer's token. The old one stops after the grace period, or at once if that is 0.
   * @param {Customer} customer
   * @param {number} gracePeriodSeconds
   */
  async rotate(customer, gracePeriodSeconds) {
    const { token } = await this.getOrCreate(customer)
    await this.#client.rotate({ currentToken: token, gracePeriodSeconds })
  }

  /**
   * Makes the customer's tokens inactive.
   * @param {Customer} customer
   */
  async suspend(customer) {
    const { teamId } = await this.getOrCreate(customer)
    await this.#management.suspendUserGroup(teamId)
  }

  /**
   * Makes the customer's tokens active again.
   * @param {Customer} customer
   */
  async resume(customer) {
    const { teamId } = await this.getOrCreate(customer)
    await this.#management.resumeUserGroup(teamId)
  }
}

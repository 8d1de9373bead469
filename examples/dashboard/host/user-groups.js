import { UserGroupClient, UserGroupManagement } from '@user-group-service/client'

/** @typedef {import('./customers.js').Customer} Customer */
/** @typedef {import('./customers.js').Person} Person */
/** @typedef {import('./customers.js').Viewer} Viewer */

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
   * Creates the customer's user group, or updates it to match the product's data.
   * @param {Customer} customer
   */
  async getOrCreate({ id, name, dataSource, properties }) {
    const mapping = { [this.#schema]: dataSource }
    const { userGroup } = await this.#client.getOrCreate({ userGroupId: id, name, mapping, properties })
    return userGroup
  }

  /**
   * Creates a session that shows what the person may see of the customer.
   * @param {Person} person
   */
  async createSession({ viewer: { id, name, regions }, customer }) {
    await this.getOrCreate(customer)
    // The service refuses regions that the customer does not have.
    const visible = regions && customer.properties.regions.filter((region) => regions.includes(region))
    const narrow = visible && { properties: { regions: visible } }
    return this.#client.createSession(customer.id, { id, name }, { narrow })
  }

  /**
   * Ends the sessions of the viewer.
   * @param {Customer} customer
   * @param {Viewer} viewer
   */
  async endSessions(customer, viewer) {
    await this.#client.endSessions(customer.id, viewer.id)
  }

  /**
   * Makes the customer's sessions and token inactive.
   * @param {Customer} customer
   */
  async suspend(customer) {
    const { teamId } = await this.getOrCreate(customer)
    await this.#management.suspendUserGroup(teamId)
  }

  /**
   * Makes the customer's sessions and token active again.
   * @param {Customer} customer
   */
  async resume(customer) {
    const { teamId } = await this.getOrCreate(customer)
    await this.#management.resumeUserGroup(teamId)
  }
}

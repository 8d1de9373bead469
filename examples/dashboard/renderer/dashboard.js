import { compileSql, IntrospectionError, renderText, TemplateError } from '@user-group-service/renderer'
import { Refusal } from '../shared/web-server.js'
import { filters, templates, texts } from './queries.js'

/** @typedef {import('@user-group-service/renderer').UserGroup} UserGroup */
/** @typedef {{ orders: number, revenue_cents: number }} Sums */
/** @typedef {Record<string, string>} Filter values of the filters, by the name after `filter.` */
/** @typedef {Sums & { month: string, product_line: string }} MonthRow */
/** @typedef {Sums & { product: string, product_line: string }} ProductRow */

/**
 * The data of one view.
 * @typedef {object} View
 * @property {string} title
 * @property {string} scope
 * @property {string} dataSource
 * @property {string | null} currency three letters (ISO 4217)
 * @property {string | null} product the only one that is shown
 * @property {MonthRow[]} byMonth
 * @property {ProductRow[]} byProduct
 * @property {{ text: string, values: unknown[] }[]} [statements] only for development
 */

export class Dashboard {
  #introspection
  #warehouses
  #schema
  #showsStatements

  /**
   * @param {object} parts
   * @param {Pick<import('@user-group-service/renderer').IntrospectionClient, 'introspect'>} parts.introspection
   * @param {import('./warehouses.js').Warehouses} parts.warehouses
   * @param {string} parts.schema the provided id of the dashboard's schema
   * @param {boolean} parts.showsStatements adds the SQL and its values to views
   */
  constructor({ introspection, warehouses, schema, showsStatements }) {
    this.#introspection = introspection
    this.#warehouses = warehouses
    this.#schema = schema
    this.#showsStatements = showsStatements
  }

  /**
   * Returns the view of a user group.
   * @param {UserGroup} userGroup
   * @param {Filter} filter
   * @returns {View}
   * @throws Refusal
   */
  view(userGroup, filter) {
    const { warehouse, name } = this.#dataSourceOf(userGroup)
    try {
      const options = /** @type {const} */ ({ dialect: 'sqlite', variables: { filter }, optional: filters })
      const byMonth = compileSql(templates.byMonth, userGroup, options)
      const byProduct = compileSql(templates.byProduct, userGroup, options)
      return {
        title: renderText(texts.title, userGroup, { format: 'text' }),
        scope: renderText(texts.scope, userGroup, { format: 'text' }),
        dataSource: name,
        currency: currencyOf(userGroup),
        product: filter.product ?? null,
        byMonth: /** @type {MonthRow[]} */ (warehouse.prepare(byMonth.text).all(...byMonth.values)),
        byProduct: /** @type {ProductRow[]} */ (warehouse.prepare(byProduct.text).all(...byProduct.values)),
        ...(this.#showsStatements && { statements: [byMonth, byProduct] }),
      }
    } catch (error) {
      // The message names the variable, never a value.
      if (error instanceof TemplateError) throw new Refusal(422, 'not_set_up', error.message)
      throw error
    }
  }

  /**
   * Returns the user group of a token.
   * @param {string} token
   * @returns {Promise<UserGroup>}
   * @throws Refusal
   */
  async userGroupOf(token) {
    const userGroup = await this.#introspection.introspect(token).catch((/** @type {unknown} */ error) => {
      if (!(error instanceof IntrospectionError)) throw error
      console.error(`introspection failed: ${error.code}`)
      throw new Refusal(503, 'unavailable', 'The User Group Service is unavailable. Try again later.')
    })
    if (userGroup === null) throw new Refusal(401, 'token_not_active', 'The token is not valid.')
    return userGroup
  }

  /** @param {UserGroup} userGroup */
  #dataSourceOf({ dataSources }) {
    // A mapping key may be either id of the schema.
    const dataSource = Object.values(dataSources).find(({ schema }) => schema.providedId === this.#schema)
    const warehouse = dataSource && this.#warehouses.get(dataSource.providedId)
    if (!warehouse) throw new Refusal(422, 'not_set_up', 'No data source is mapped for this dashboard.')
    return { warehouse, name: dataSource.name }
  }
}

/** @param {UserGroup} userGroup */
function currencyOf({ properties }) {
  const currency = properties?.currency
  return typeof currency === 'string' && /^[A-Z]{3}$/.test(currency) ? currency : null
}

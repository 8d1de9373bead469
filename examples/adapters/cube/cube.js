// Each viewer sees the rows of its user group, in the database of its user group.
const { IntrospectionClient } = require('@user-group-service/renderer')

/** @typedef {{ securityContext: import('@user-group-service/renderer').UserGroup }} Context */

/** The schema that user groups map to their data sources. */
const schema = 'sales'
/** The members that hold the `user_group_id`, by cube or view. Queries of other cubes fail. */
const customers = new Map([['sales', 'sales.customer']])
/** Connections to PostgreSQL, by the `provided_id` of their data source. @type {Record<string, object>} */
const connections = JSON.parse(process.env.CONNECTIONS ?? '{}')

const userGroups = new IntrospectionClient({
  url: process.env.UGS_INTROSPECTION_URL ?? '',
  apiToken: process.env.UGS_API_TOKEN ?? '',
  cache: { lease: true, maxEntries: 10_000 },
})

/** @param {Context} context */
function dataSourceOf({ securityContext: { dataSources } }) {
  const found = Object.values(dataSources).find((dataSource) => dataSource.schema.providedId === schema)
  if (found === undefined) throw new Error(`The user group has no data source for ${schema}.`)
  return found.providedId
}

/** @param {Context} context */
const tenantOf = (context) => `${context.securityContext.teamId} ${dataSourceOf(context)}`

/** Returns the cubes of all members in a query, and `SQL` if it has any. @param {unknown} part @returns {string[]} */
function cubesIn(part) {
  if (typeof part === 'string') return part.includes('.') ? [part.slice(0, part.indexOf('.'))] : []
  if (typeof part !== 'object' || part === null) return []
  return Object.entries(part).flatMap(([key, value]) => {
    if (key === 'cubeName' || key === 'subqueryJoins') return ['SQL']
    return /^(values|dateRange|compareDateRange)$/.test(key) ? [] : [...cubesIn(key), ...cubesIn(value)]
  })
}

module.exports = {
  /** @param {{ securityContext?: unknown }} request @param {string | undefined} token */
  checkAuth: async (request, token) => {
    const userGroup = await userGroups.introspect(token ?? '')
    if (userGroup === null) throw new Error('The session is not valid.')
    request.securityContext = userGroup
  },
  contextToAppId: tenantOf,
  // Otherwise, all user groups share the connection of the first one.
  contextToOrchestratorId: tenantOf,
  /** @param {Context} context */
  driverFactory: (context) => {
    const dataSource = dataSourceOf(context)
    if (!Object.hasOwn(connections, dataSource)) throw new Error(`${dataSource} has no connection.`)
    return { type: 'postgres', ...connections[dataSource] }
  },
  /** @param {{ filters?: object[] }} query @param {Context} context */
  queryRewrite: (query, { securityContext: { providedId, resources } }) => {
    const filters = [...new Set(cubesIn(query))].map((cube) => {
      const member = resources?.includes(cube) === false ? undefined : customers.get(cube)
      if (member === undefined) throw new Error(`This session may not query ${cube}.`)
      return { member, operator: 'equals', values: [providedId] }
    })
    return { ...query, filters: [...(query.filters ?? []), ...filters] }
  },
  scheduledRefreshTimer: false, // There is no viewer then.
}

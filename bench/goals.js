/**
 * A performance goal and the figure of a case that decides it. If several rows or figures match, the worst one counts.
 * @typedef {object} Goal
 * @property {string} name
 * @property {string} of name of the case
 * @property {RegExp} row
 * @property {RegExp} figure
 * @property {number} limit
 * @property {'at least' | 'at most'} bound
 */

/** @type {readonly Goal[]} */
const goals = [
  {
    name: 'GET unchanged, SQLite, 32 connections ÷ bare Fastify',
    ...{ of: 'operations', row: /^GET, unchanged, ratios, 32 /, figure: /^throughput ÷ bare Fastify$/ },
    ...{ bound: 'at least', limit: 1.4 },
  },
  {
    name: 'GET unchanged, SQLite, 128 connections ÷ bare Fastify responding once per tick',
    ...{
      of: 'operations',
      row: /^GET, unchanged, ratios, 128 /,
      figure: /^throughput ÷ bare Fastify together$/,
    },
    ...{ bound: 'at least', limit: 1 },
  },
  ...[32, 128].flatMap((connections) => {
    const name = `GET create, SQLite, ${connections} connections`
    return /** @type {Goal[]} */ ([
      {
        name: `${name} ÷ bare Fastify responding once per tick`,
        of: 'operations',
        row: new RegExp(`^GET that creates, ratios, ${connections} `),
        figure: /^throughput ÷ bare Fastify together$/,
        ...{ bound: 'at least', limit: 0.6 },
      },
      {
        name: `${name}: p99, ms`,
        of: 'operations',
        row: new RegExp(`^GET that creates, ${connections} `),
        figure: /^p99, ms$/,
        ...{ bound: 'at most', limit: 30 },
      },
    ])
  }),
  {
    name: 'GET unchanged, PostgreSQL ÷ pgbench select, 32 clients',
    of: 'postgres-operations',
    row: /^GET, unchanged, ratios, 32 /,
    figure: /^throughput ÷ pgbench select -j 1$/,
    ...{ bound: 'at least', limit: 0.8 },
  },
  {
    name: 'GET create, PostgreSQL ÷ pgbench insert, 32 clients',
    of: 'postgres-operations',
    row: /^GET that creates, ratios, 32 /,
    figure: /^throughput ÷ pgbench insert -j 1$/,
    ...{ bound: 'at least', limit: 0.8 },
  },
  ...[
    { store: 'SQLite', of: 'operations' },
    { store: 'PostgreSQL', of: 'postgres-operations' },
  ].map(
    ({ store, of }) =>
      /** @type {Goal} */ ({
        name: `introspection ÷ GET unchanged, ${store}, 32 connections`,
        of,
        row: /^introspection, ratios, 32 /,
        figure: /^throughput ÷ GET, unchanged$/,
        ...{ bound: 'at least', limit: 1 },
      }),
  ),
  ...[
    { store: 'SQLite', of: 'alternatives' },
    { store: 'PostgreSQL', of: 'postgres-alternatives' },
  ].map(
    ({ store, of }) =>
      /** @type {Goal} */ ({
        name: `GET unchanged, ${store} ÷ the fastest alternative`,
        of,
        row: /^service: GET, unchanged, ratios$/,
        figure: /^throughput ÷ /,
        ...{ bound: 'at least', limit: 5 },
      }),
  ),
  {
    name: 'one connection: p50 of GET unchanged ÷ raw node:http echo',
    ...{ of: 'operations', row: /^GET, unchanged, ratios, 1 /, figure: /^p50 ÷ echo$/ },
    ...{ bound: 'at most', limit: 1.5 },
  },
  {
    name: 'start to first response, ms',
    ...{ of: 'start', row: /^service$/, figure: /^first response, ms$/ },
    ...{ bound: 'at most', limit: 500 },
  },
  {
    name: 'memory at 1,000,000 groups under load, SQLite, MB',
    ...{ of: 'memory', row: /./, figure: /^memory, MB$/ },
    ...{ bound: 'at most', limit: 256 },
  },
  {
    name: 'GET unchanged at 10,000,000 groups ÷ at 10,000, SQLite',
    ...{ of: 'rows-large', row: /^10,000,000 user groups, ratios$/, figure: /^throughput ÷ 10,000 / },
    ...{ bound: 'at least', limit: 0.8 },
  },
]

/**
 * @typedef {object} Judgement
 * @property {string} name
 * @property {string} goal
 * @property {import('./lib/statistics.js').Summary} figure
 * @property {boolean} isMet by the median
 */

/**
 * Judges the goals that the reports have figures for.
 * @param {Record<string, import('./run.js').Report>} reports
 * @returns {Judgement[]}
 */
export function judge(reports) {
  return goals.flatMap(({ name, of, row, figure, limit, bound }) => {
    const figures = (reports[of]?.rows ?? [])
      .filter(({ name }) => row.test(name))
      .flatMap((found) => Object.entries(found.figures))
      .flatMap(([name, summary]) => (figure.test(name) ? [summary] : []))
      .sort((a, b) => (bound === 'at least' ? a.median - b.median : b.median - a.median))
    const [worst] = figures
    if (worst === undefined) return []
    const isMet = bound === 'at least' ? worst.median >= limit : worst.median <= limit
    return [{ name, goal: `${bound} ${limit}`, figure: worst, isMet }]
  })
}

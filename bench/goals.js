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
  ...[
    {
      store: 'SQLite',
      of: 'operations',
      read: { against: 'bare Fastify', limit: 0.65 },
      created: 1.6,
    },
    {
      store: 'PostgreSQL',
      of: 'postgres-operations',
      read: { against: 'pgbench select -j 1', limit: 0.65 },
      created: 1.5,
    },
  ].flatMap(({ store, of, read, created }) =>
    [
      { name: 'unchanged GET', row: /^GET, unchanged, ratios, 32 /, ...read },
      {
        name: 'GET that creates',
        row: /^GET that creates, ratios, 32 /,
        against: 'bare Fastify that creates',
        limit: created,
      },
      { name: 'introspection', row: /^introspection, ratios, 32 /, against: 'GET, unchanged', limit: 1 },
    ].map(
      ({ name, row, against, limit }) =>
        /** @type {Goal} */ ({
          name: `${name}, ${store}, 32 connections: CPU time ÷ ${against}`,
          of,
          row,
          figure: new RegExp(`^CPU ÷ ${against}$`),
          bound: 'at most',
          limit,
        }),
    ),
  ),
  {
    name: 'first 10 s on PostgreSQL after a start with 20,000 user groups ÷ warm',
    of: 'postgres-cold-start',
    row: /^service$/,
    figure: /^first ÷ warm$/,
    bound: 'at least',
    limit: 0.8,
  },
  {
    name: 'read that is in no cache, SQLite, 10,000,000 ÷ 10,000 user groups',
    of: 'rows-large',
    row: /^10,000,000 user groups, ratios$/,
    figure: /^throughput ÷ 10,000 /,
    bound: 'at least',
    limit: 0.9,
  },
  {
    name: 'one connection: p50 of unchanged GET ÷ node:http echo',
    of: 'operations',
    row: /^GET, unchanged, ratios, 1 /,
    figure: /^p50 ÷ echo$/,
    bound: 'at most',
    limit: 1.3,
  },
  {
    name: 'memory at 1,000,000 user groups under load, SQLite, MB',
    of: 'memory',
    row: /./,
    figure: /^memory, MB$/,
    bound: 'at most',
    limit: 256,
  },
  ...[
    { store: 'SQLite', prefix: '', p99: 5, rowsPerSecond: 1e6 / 60 },
    { store: 'PostgreSQL', prefix: 'postgres-', p99: 8, rowsPerSecond: 1e6 / 90 },
  ].flatMap(({ store, prefix, p99, rowsPerSecond }) => {
    const name = `1,000 requests/s beside an import, ${store}`
    const beside = { of: `${prefix}mixed`, row: /^1,000\/s beside / }
    return /** @type {Goal[]} */ ([
      { name: `${name}: p99, ms`, ...beside, figure: /^p99, ms$/, bound: 'at most', limit: p99 },
      { name: `${name}: p99.9, ms`, ...beside, figure: /^p99\.9, ms$/, bound: 'at most', limit: 25 },
      { name: `${name}: pause, ms`, ...beside, figure: /^longest pause, ms$/, bound: 'at most', limit: 100 },
      {
        name: `import, ${store}, rows/s`,
        of: `${prefix}bulk`,
        row: /^import$/,
        figure: /^rows\/s$/,
        bound: 'at least',
        limit: Math.round(rowsPerSecond),
      },
    ])
  }),
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

import type { TenantScope } from '../../domain/tenant-scope.ts'
import { endOfPrefix, foldText } from '../../domain/user-group/user-group-filter.ts'
import { transaction, type Batch, type Operation } from './operation.ts'
import { anyOf, either, postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

// The search index (decision 0043). A run is a range of team ids, from `first_team_id` to that of the next run. For each gram,
// `search_posting` lists the user groups of the run that have it. Changes since then are in `unindexed_user_group`. A user group that
// both lead to is a candidate: its current text must be compared.

/** Number of user groups at which a run is full, so that a later user group begins another. */
const runLength = 8192
/** Number of changes in an environment at which they are added to the index. Until then, a search reads each of them. */
const minChanges = 2048
/** Maximum number of changes of one update. */
const maxChanges = 4096
/** Factor by which a search looks at more runs after each step, to read little for a text that many have. */
const runsGrowth = 16
/** Maximum number of grams that a search looks up, and of those that it reads. */
const maxGramsCounted = 8
const maxGramsRead = 3
const gramLength = 3
/** The gram that has all user groups of a run. */
const all = ''
/** Bytes of a team id in a posting: its difference to the first one, as a little-endian integer. */
const idBytes = 3
const idEnd = 2 ** (8 * idBytes)
/** Advisory lock of updates on PostgreSQL: an arbitrary number. */
const updateLock = 0x55475303

export interface IndexSearch {
  readonly text: string
  readonly after: number
  /** Maximum number of user groups to return, and of changes to read. */
  readonly limit: number
  readonly maxRuns: number
}

export interface FoundTeamIds {
  /** In ascending order. */
  readonly teamIds: readonly number[]
  /** The last team id that was considered; null at the end. */
  readonly end: number | null
}

/** Finds user groups after a team id that may have the folded text in their name or id. */
export function* findInIndex(
  scope: TenantScope,
  { text, after, limit, maxRuns }: IndexSearch,
): Operation<FoundTeamIds> {
  // Before the runs: an update may move changes to the index between the statements.
  const changed = (yield* sql<{ team_id: number }>`SELECT DISTINCT team_id FROM unindexed_user_group
    WHERE ${inScope(scope)} AND team_id > ${after} ORDER BY team_id LIMIT ${limit}`.inBucket(null)).map(
    (row) => row.team_id,
  )
  let end = changed.length === limit ? (changed.at(-1) as number) : Infinity
  const runs = yield* runsFrom(scope, after, maxRuns + 1)
  const found = new Set(changed)
  for (let next = 0, length = 1; next < runs.length && (runs[next] as number) <= end; length *= runsGrowth) {
    const some = runs.slice(next, Math.min(next + length, maxRuns))
    for (const teamId of yield* findInRuns(scope, some, text)) if (teamId > after) found.add(teamId)
    next += some.length
    if (next < runs.length && (found.size >= limit || next === maxRuns)) {
      end = Math.min(end, (runs[next] as number) - 1)
      break
    }
  }
  const teamIds = [...found].filter((teamId) => teamId <= end).sort((a, b) => a - b)
  if (teamIds.length > limit) return { teamIds: teamIds.slice(0, limit), end: teamIds[limit - 1] as number }
  return { teamIds, end: end === Infinity ? null : end }
}

function* findInRuns(scope: TenantScope, runs: readonly number[], text: string): Operation<number[]> {
  if (text === all) return (yield* readPostings(scope, runs, [all])).flatMap(teamIdsOf)
  if (Array.from(text).length < gramLength) return (yield* readStarting(scope, runs, text)).flatMap(teamIdsOf)
  const grams = [...new Set(gramsOf(text))].filter((gram) => Array.from(gram).length === gramLength)
  const counted = spread(grams, maxGramsCounted)
  const counts = yield* lookUp<CountRow>(scope, runs, counted, 'first_team_id, gram, team_count')
  const complete = [...byRun(counts)].filter(([, rows]) => rows.length === counted.length)
  const totals = new Map<string, number>(counted.map((gram) => [gram, 0]))
  for (const { gram, team_count } of complete.flatMap(([, rows]) => rows))
    totals.set(gram, (totals.get(gram) as number) + team_count)
  const rarest = counted.toSorted((a, b) => (totals.get(a) as number) - (totals.get(b) as number))
  const rows = yield* readPostings(
    scope,
    complete.map(([run]) => run),
    rarest.slice(0, maxGramsRead),
  )
  return [...byRun(rows).values()].flatMap(inAll)
}

/** Reads the first team ids of runs in order, from the run that a team id belongs to. */
function* runsFrom(scope: TenantScope, teamId: number, limit: number): Operation<number[]> {
  const rows = yield* sql<{ first_team_id: number }>`SELECT first_team_id FROM search_posting
    WHERE ${inScope(scope)} AND gram = '' AND first_team_id >= coalesce((
      SELECT max(first_team_id) FROM search_posting
      WHERE ${inScope(scope)} AND gram = '' AND first_team_id <= ${teamId}
    ), 0) ORDER BY first_team_id LIMIT ${limit}`
  return rows.map((row) => row.first_team_id)
}

const readPostings = (scope: TenantScope, runs: readonly number[], grams: readonly string[]) =>
  lookUp<PostingRow>(scope, runs, grams, 'first_team_id, gram, team_ids')

/** Looks up each gram in each run. Without the subquery, PostgreSQL without statistics would read all postings of the environment. */
function* lookUp<Row>(
  scope: TenantScope,
  runs: readonly number[],
  grams: readonly string[],
  columns: string,
): Operation<Row[]> {
  if (runs.length === 0) return []
  return yield* either<Row>({
    sqlite: sql`SELECT ${raw(columns)} FROM search_posting
      WHERE ${inScope(scope)} AND ${anyOf('first_team_id', 'bigint', runs)} AND ${anyOf('gram', 'text', grams)}`,
    postgres: sql`SELECT posting.* FROM unnest(${runs}::bigint[]) AS run (id)
      CROSS JOIN unnest(${grams}::text[]) AS wanted (gram)
      CROSS JOIN LATERAL (
        SELECT ${raw(columns)} FROM search_posting
        WHERE ${inScope(scope)} AND first_team_id = run.id AND gram = wanted.gram COLLATE "C" LIMIT 1
      ) AS posting`,
  })
}

/** Reads the postings of the grams that start with one or two characters. */
function* readStarting(scope: TenantScope, runs: readonly number[], start: string): Operation<PostingRow[]> {
  const end = endOfPrefix(start)
  const starting = end === null ? sql`gram >= ${start}` : sql`gram >= ${start} AND gram < ${end}`
  return yield* either<PostingRow>({
    sqlite: sql`SELECT first_team_id, gram, team_ids FROM search_posting
      WHERE ${inScope(scope)} AND ${anyOf('first_team_id', 'bigint', runs)} AND ${starting}`,
    postgres: sql`SELECT posting.* FROM unnest(${runs}::bigint[]) AS run (id)
      CROSS JOIN LATERAL (
        SELECT first_team_id, gram, team_ids FROM search_posting
        WHERE ${inScope(scope)} AND first_team_id = run.id AND ${starting} OFFSET 0
      ) AS posting`,
  })
}

/** Returns the user groups that are in all postings of a run. */
function inAll(postings: readonly PostingRow[]): number[] {
  const [shortest, ...others] = postings.toSorted((a, b) => a.team_ids.length - b.team_ids.length)
  let common = shortest === undefined ? [] : teamIdsOf(shortest)
  for (const other of others) {
    const wanted = new Set(common)
    common = teamIdsOf(other).filter((teamId) => wanted.has(teamId))
  }
  return common
}

export interface IndexUpdate {
  /** Maximum number of rows of a step, each of which is a transaction. Infinity makes each update one transaction. */
  readonly portion: number
  /** Updates the environments with a removed name instead of those with many changes. */
  readonly erases: boolean
}

/**
 * Returns a step of moving changes to the index. An update handles changes of one run. They stay until its last step, so that searches
 * find them meanwhile. Each step can be repeated, and so can an update that was interrupted.
 */
export function updateIndex({ portion, erases }: IndexUpdate): () => Operation<Batch> {
  let position: Position = { workspaceId: 0, environment: 'Customer', teamId: Infinity }
  let tasks: Generator<Task, undefined> | undefined
  let task: Task | undefined
  return function* () {
    yield* transaction()
    yield* postgres`SELECT pg_advisory_xact_lock(${updateLock})`
    if (task !== undefined) {
      yield* task()
      task = tasks?.next().value
      return { count: 0, isDone: false }
    }
    const scope = yield* nextScope(position, erases)
    if (scope === null) return { count: 0, isDone: true }
    const isBegun = erases || isSame(scope, position)
    const update = yield* begin(
      scope,
      isSame(scope, position) ? position.teamId : 0,
      isBegun ? 1 : minChanges,
    )
    const count = update?.changes.length ?? 0
    if (update !== null && portion === Infinity) for (const each of tasksOf(update, portion)) yield* each()
    // After all statements, because a step that fails runs again.
    position = { ...scope, teamId: update?.next ?? Infinity }
    if (update !== null && portion !== Infinity) {
      tasks = tasksOf(update, portion)
      task = tasks.next().value
    }
    return { count, isDone: false }
  }
}

/** Changes up to this team id were handled; Infinity for all changes of the environment. */
interface Position extends TenantScope {
  readonly teamId: number
}

type Task = () => Operation<unknown>

/** Some changes of one run on their way to the index. */
interface Update {
  readonly scope: TenantScope
  readonly run: Run
  /** In order of team ids. */
  readonly changes: readonly ChangeRow[]
  /** Last team id of the changes if others may follow. */
  readonly next: number | undefined
}

interface Run {
  readonly first: number
  /** The last user group that the index has; -1 if none. */
  readonly last: number
  /** The first team id after the run. */
  readonly end: number
}

/** The user groups to remove from the posting of a gram, and then to add to it. */
interface PostingChange {
  readonly gram: string
  readonly removed: number[]
  readonly added: number[]
}

/** Returns the first environment that has changes after a position. */
function* nextScope(
  { workspaceId, environment, teamId }: Position,
  erases: boolean,
): Operation<TenantScope | null> {
  const after = Math.min(teamId, Number.MAX_SAFE_INTEGER)
  const [row] = yield* sql<{ workspace_id: number; environment: TenantScope['environment'] }>`
    SELECT workspace_id, environment FROM unindexed_user_group
    WHERE (workspace_id, environment, team_id) > (${workspaceId}, ${environment}, ${after})
      ${raw(erases ? 'AND removed_name IS NOT NULL' : '')}
    ORDER BY workspace_id, environment, team_id LIMIT 1`.inBucket(null)
  return row === undefined ? null : { workspaceId: row.workspace_id, environment: row.environment }
}

const isSame = (one: TenantScope, other: TenantScope) =>
  one.workspaceId === other.workspaceId && one.environment === other.environment

/** Returns null if the environment has too few changes. */
function* begin(scope: TenantScope, after: number, minimum: number): Operation<Update | null> {
  const changes =
    yield* sql<ChangeRow>`SELECT team_id, revision, removed_id, removed_name FROM unindexed_user_group
    WHERE ${inScope(scope)} AND team_id > ${after} ORDER BY team_id, revision LIMIT ${maxChanges}`.inBucket(
      null,
    )
  const first = changes[0]?.team_id
  if (first === undefined || changes.length < minimum) return null
  const run = yield* runOf(scope, first)
  const some = changes.filter((change) => change.team_id < run.end)
  const isAll = some.length === changes.length && changes.length < maxChanges
  return { scope, run, changes: some, next: isAll ? undefined : some.at(-1)?.team_id }
}

/** Returns the run that a team id belongs to, which may be a new one. */
function* runOf(scope: TenantScope, teamId: number): Operation<Run> {
  const [first = Infinity, next = Infinity] = yield* runsFrom(scope, teamId, 2)
  if (first > teamId) return { first: teamId, last: -1, end: Math.min(first, teamId + idEnd) }
  const teamIds = (yield* readPostings(scope, [first], [all])).flatMap(teamIdsOf)
  const last = teamIds.at(-1) as number
  const isFull = teamIds.length >= runLength
  if (teamId > last && (isFull || teamId >= first + idEnd))
    return { first: teamId, last: -1, end: Math.min(next, teamId + idEnd) }
  return { first, last, end: isFull ? last + 1 : Math.min(next, first + idEnd) }
}

function* tasksOf({ scope, run, changes }: Update, portion: number): Generator<Task, undefined> {
  const postings = new Map<string, PostingChange>()
  for (const some of portions(changes, portion)) yield () => collect(scope, some, postings)
  const isAppended = ({ removed, added: [first = -1] }: PostingChange) =>
    removed.length === 0 && first > run.last
  const [appended, rewritten] = [true, false].map((is) =>
    [...postings.values()].filter((change) => isAppended(change) === is),
  ) as [PostingChange[], PostingChange[]]
  // The first one is that of all user groups, so an update that is repeated after an interruption appends nothing twice.
  for (const some of portions(appended, portion)) yield () => append(scope, run, some)
  for (const some of portions(rewritten, portion)) yield () => rewrite(scope, run, some)
  for (const some of portions(changes, portion)) yield () => deleteChanges(scope, some)
}

/** Collects how changes concern postings. */
function* collect(
  scope: TenantScope,
  changes: readonly ChangeRow[],
  postings: Map<string, PostingChange>,
): Operation<void> {
  const teamIds = [...new Set(changes.map((change) => change.team_id))]
  // After the changes were read: a later change has a row of its own.
  const rows = yield* sql<TextRow>`SELECT team_id, provided_id, name FROM user_group
    WHERE ${postgres`workspace_id = ${scope.workspaceId} AND`} ${anyOf('team_id', 'bigint', teamIds)}
    ORDER BY team_id`
  const add = (kind: 'removed' | 'added', teamId: number, text: string | null) => {
    for (const gram of text === null ? [] : gramsOf(foldText(text))) {
      let posting = postings.get(gram)
      if (posting === undefined) postings.set(gram, (posting = { gram, removed: [], added: [] }))
      if (posting[kind].at(-1) !== teamId) posting[kind].push(teamId)
    }
  }
  for (const { team_id, removed_id, removed_name } of changes) {
    add('removed', team_id, removed_id)
    add('removed', team_id, removed_name)
  }
  for (const { team_id, provided_id, name } of rows) {
    add('added', team_id, provided_id)
    add('added', team_id, name)
  }
}

function* append(scope: TenantScope, { first }: Run, changes: readonly PostingChange[]): Operation<void> {
  const added = changes.map(({ gram, added }) => ({ gram, team_ids: encoded(first, added) }))
  // On SQLite, `||` returns text.
  const both = 'search_posting.team_ids || excluded.team_ids'
  const teamIds = either({ sqlite: raw(`CAST(${both} AS BLOB)`), postgres: raw(both) })
  yield* writePostings(
    scope,
    first,
    added,
    sql`team_count = search_posting.team_count + excluded.team_count, team_ids = ${teamIds}`,
  )
}

/** Writes changed postings as a whole, and deletes those that become empty. */
function* rewrite(scope: TenantScope, { first }: Run, changes: readonly PostingChange[]): Operation<void> {
  const grams = changes.map(({ gram }) => gram)
  const rows = yield* readPostings(scope, [first], grams)
  const before = new Map(rows.map((row) => [row.gram, row]))
  const after = changes.map(({ gram, removed, added }) => {
    const posting = before.get(gram)
    const teamIds = new Set(posting === undefined ? [] : teamIdsOf(posting))
    for (const teamId of removed) teamIds.delete(teamId)
    for (const teamId of added) teamIds.add(teamId)
    return {
      gram,
      team_ids: encoded(
        first,
        [...teamIds].sort((a, b) => a - b),
      ),
    }
  })
  const changed = after.filter(({ gram, team_ids }) => before.get(gram)?.team_ids.equals(team_ids) !== true)
  const [emptied, written] = [true, false].map((isEmpty) =>
    changed.filter(({ team_ids }) => (team_ids.length === 0) === isEmpty),
  ) as [NewPosting[], NewPosting[]]
  yield* writePostings(
    scope,
    first,
    written,
    raw('team_count = excluded.team_count, team_ids = excluded.team_ids'),
  )
  if (emptied.length > 0)
    yield* sql`DELETE FROM search_posting WHERE ${inScope(scope)} AND first_team_id = ${first}
      AND ${anyOf(
        'gram',
        'text',
        emptied.map(({ gram }) => gram),
      )}`
}

type NewPosting = Pick<PostingRow, 'gram' | 'team_ids'>

/** @param change how an existing posting changes */
function* writePostings(
  { workspaceId, environment }: TenantScope,
  first: number,
  postings: readonly NewPosting[],
  change: Sql,
): Operation<void> {
  if (postings.length === 0) return
  const written = rowsOf('new', { gram: 'text', team_ids: 'bytea' }, postings)
  yield* sql`INSERT INTO search_posting (workspace_id, environment, first_team_id, gram, team_count, team_ids)
    SELECT ${workspaceId}, ${environment}, ${first}, gram, length(team_ids) / ${raw(String(idBytes))}, team_ids FROM ${written} WHERE true
    ON CONFLICT (workspace_id, environment, first_team_id, gram) DO UPDATE SET ${change}`
}

function* deleteChanges(scope: TenantScope, changes: readonly ChangeRow[]): Operation<void> {
  const teamIds = changes.map((change) => change.team_id)
  // The first condition is for the index, which PostgreSQL would not use for the second.
  const keys = changes.map(({ team_id, revision }) => `${team_id} ${revision}`)
  yield* sql`DELETE FROM unindexed_user_group
    WHERE ${inScope(scope)} AND ${anyOf('team_id', 'bigint', teamIds)} AND ${anyOf("team_id || ' ' || revision", 'text', keys)}`
}

/** @param teamIds in ascending order */
function encoded(first: number, teamIds: readonly number[]): Buffer {
  const bytes = Buffer.alloc(teamIds.length * idBytes)
  teamIds.forEach((teamId, i) => bytes.writeUIntLE(teamId - first, i * idBytes, idBytes))
  return bytes
}

function teamIdsOf({ first_team_id, team_ids }: Omit<PostingRow, 'gram'>): number[] {
  const teamIds: number[] = []
  for (let at = 0; at < team_ids.length; at += idBytes)
    teamIds.push(first_team_id + team_ids.readUIntLE(at, idBytes))
  return teamIds
}

/**
 * Returns the empty gram, each three characters of a folded text, and what is left at its end, so that a prefix of a gram finds one or
 * two characters.
 */
function gramsOf(text: string): string[] {
  const grams = [all]
  // Other characters than these are two code units.
  const characters = /[\ud800-\udbff]/.test(text) ? Array.from(text) : text
  for (let i = 0; i < characters.length; i++) {
    const gram = characters.slice(i, i + gramLength)
    grams.push(typeof gram === 'string' ? gram : gram.join(''))
  }
  return grams
}

function byRun<Row extends { readonly first_team_id: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const runs = new Map<number, Row[]>()
  for (const row of rows) {
    const run = runs.get(row.first_team_id)
    if (run === undefined) runs.set(row.first_team_id, [row])
    else run.push(row)
  }
  return runs
}

/** Returns at most `count` items, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count)
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}

function* portions<Item>(items: readonly Item[], length: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += length) yield items.slice(at, at + length)
}

function inScope({ workspaceId, environment }: TenantScope): Sql {
  return sql`workspace_id = ${workspaceId} AND environment = ${environment}`
}

interface ChangeRow {
  readonly team_id: number
  readonly revision: number
  readonly removed_id: string | null
  readonly removed_name: string | null
}

interface TextRow {
  readonly team_id: number
  readonly provided_id: string
  readonly name: string
}

interface CountRow {
  readonly first_team_id: number
  readonly team_count: number
  readonly gram: string
}

interface PostingRow {
  readonly first_team_id: number
  readonly gram: string
  readonly team_ids: Buffer
}

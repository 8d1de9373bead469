import type { TenantScope } from '../../domain/tenant-scope.ts'
import { endOfPrefix, foldText } from '../../domain/user-group/user-group-filter.ts'
import { transaction, type Batch, type Operation } from './operation.ts'
import { anyOf, either, postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

// The search index (decision 0043). `search_posting` has runs of user groups with consecutive team ids. For each gram, a run lists the
// user groups that have it now or had it earlier, so what the index finds must be compared with the current text.

/** Maximum number of user groups of a run, unless user groups are created out of order. */
const runLength = 2048
/** Number of changes in an environment at which they are added to the index. Until then, a search reads each of them. */
const minChanges = 2048
/** Maximum number of changes of one update. */
const maxChanges = 2048
/** Maximum number of runs that one search or update examines. */
const maxRuns = 32
/** Maximum number of grams that a search looks up, and of those that it reads. */
const maxGramsCounted = 8
const maxGramsRead = 3
const gramLength = 3
/** The gram that has all user groups of a run. */
const all = ''
/** Advisory lock of updates on PostgreSQL: an arbitrary number. */
const updateLock = 0x55475303

export interface FoundTeamIds {
  /** In ascending order. */
  readonly teamIds: readonly number[]
  /** The last team id that was considered; null at the end. */
  readonly end: number | null
}

/** Finds user groups after a team id that may have the folded text in their name or id. */
export function* findInIndex(
  scope: TenantScope,
  { text, after, limit }: { readonly text: string; readonly after: number; readonly limit: number },
): Operation<FoundTeamIds> {
  // Before the runs: an update may move changes to the index between the statements.
  const changed = (yield* sql<{ team_id: number }>`SELECT DISTINCT team_id FROM unindexed_user_group
    WHERE ${inScope(scope)} AND team_id > ${after} ORDER BY team_id LIMIT ${limit}`.inBucket(null)).map(
    (row) => row.team_id,
  )
  let end = changed.length === limit ? (changed.at(-1) as number) : Infinity
  const runs = (yield* sql<{ first_team_id: number }>`SELECT first_team_id FROM search_posting
    WHERE ${inScope(scope)} AND gram = '' AND first_team_id >= ${firstRunAt(scope, after)}
    ORDER BY first_team_id LIMIT ${maxRuns + 1}`).map((row) => row.first_team_id)
  const found = new Set<number>()
  for (let next = 0, length = 1; next < runs.length && (runs[next] as number) <= end; length *= 2) {
    const some = runs.slice(next, Math.min(next + length, maxRuns))
    for (const teamId of yield* findInRuns(scope, some, text)) if (teamId > after) found.add(teamId)
    next += some.length
    // Team ids of a run are less than the first of the next one.
    if (next < runs.length && (found.size >= limit || next === maxRuns)) {
      end = Math.min(end, (runs[next] as number) - 1)
      break
    }
  }
  for (const teamId of changed) found.add(teamId)
  const teamIds = [...found].filter((teamId) => teamId <= end).sort((a, b) => a - b)
  if (teamIds.length > limit) return { teamIds: teamIds.slice(0, limit), end: teamIds[limit - 1] as number }
  return { teamIds, end: end === Infinity ? null : end }
}

function* findInRuns(scope: TenantScope, runs: readonly number[], text: string): Operation<number[]> {
  if (text === all) return (yield* readPostings(scope, runs, [all])).flatMap(teamIdsOf)
  if (Array.from(text).length < gramLength) return (yield* readStarting(scope, runs, text)).flatMap(teamIdsOf)
  const grams = [...gramsOf(text)].filter((gram) => Array.from(gram).length === gramLength)
  const counted = spread(grams, maxGramsCounted)
  const counts = yield* lookUp<CountRow>(scope, runs, counted, 'first_team_id, gram, team_count')
  const ofRun = byRun(counts)
  const complete = [...ofRun].filter(([, rows]) => rows.length === counted.length)
  if (complete.length === 0) return []
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

const readPostings = (scope: TenantScope, runs: readonly number[], grams: readonly string[]) =>
  lookUp<PostingRow>(scope, runs, grams, 'first_team_id, gram, team_ids')

/** Looks up each gram in each run. Without the subquery, PostgreSQL without statistics would read all postings of the environment. */
function* lookUp<Row>(
  scope: TenantScope,
  runs: readonly number[],
  grams: readonly string[],
  columns: string,
): Operation<Row[]> {
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

/** Returns the user groups that are in all postings of a run. Parses only the results, because most are in one posting only. */
function inAll(postings: readonly PostingRow[]): number[] {
  const [shortest, ...others] = postings.toSorted((a, b) => a.team_ids.length - b.team_ids.length)
  if (shortest === undefined) return []
  const padded = others.map(({ team_ids }) => ` ${team_ids} `)
  const common = shortest.team_ids.split(' ').filter((id) => padded.every((ids) => ids.includes(` ${id} `)))
  return common.length === 0 ? [] : teamIdsOf({ ...shortest, team_ids: common.join(' ') })
}

/**
 * Returns a step of adding changes to the index, wherever an environment has enough.
 * @param portion maximum number of rows of a step. The changes of one update stay until its last step, so that searches find them
 * meanwhile, and an interruption repeats the update.
 */
export function updateIndex(portion: number): () => Operation<Batch> {
  let scope: TenantScope = { workspaceId: 0, environment: 'Customer' }
  let update: Update | null = null
  /** True if the environment had enough changes, so that the rest of them follow. */
  let drains = false
  return function* () {
    yield* transaction()
    yield* postgres`SELECT pg_advisory_xact_lock(${updateLock})`
    if (update === null) {
      const next = yield* nextScope(scope)
      if (next === null) return { count: 0, isDone: true }
      const begun = yield* beginUpdate(next, drains ? 1 : minChanges)
      const isOver = begun === null || portion === Infinity
      if (begun !== null && isOver) yield* continueUpdate(begun, portion)
      // After all statements, because a step that fails runs again.
      drains = begun !== null
      update = isOver ? null : begun
      if (begun === null) scope = next
      return { count: begun?.changes.length ?? 0, isDone: false }
    }
    if (yield* continueUpdate(update, portion)) update = null
    return { count: 0, isDone: false }
  }
}

/** Returns the first environment after `scope` that has changes. */
function* nextScope({ workspaceId, environment }: TenantScope): Operation<TenantScope | null> {
  const [row] = yield* sql<{ workspace_id: number; environment: TenantScope['environment'] }>`
    SELECT workspace_id, environment FROM unindexed_user_group
    WHERE (workspace_id, environment, team_id) > (${workspaceId}, ${environment}, ${Number.MAX_SAFE_INTEGER})
    ORDER BY workspace_id, environment, team_id LIMIT 1`.inBucket(null)
  return row === undefined ? null : { workspaceId: row.workspace_id, environment: row.environment }
}

/** Some changes of one environment on their way to the index. */
interface Update {
  readonly scope: TenantScope
  /** In order of team ids. */
  readonly changes: readonly ChangeRow[]
  /** The runs that have, or will have, these user groups. */
  readonly runs: Run[]
  /** Number of changes whose user groups were read. */
  read: number
  /** The postings to write, once all were read. */
  postings: readonly NewPosting[] | undefined
  /** Number of postings that were written. */
  written: number
  /** True once the runs have all their user groups. */
  isWritten: boolean
  /** Number of changes that were deleted. */
  done: number
}

class Run {
  readonly first: number
  isChanged = false
  /** The postings to append, by gram. */
  readonly added = new Map<string, number[]>()
  readonly #text: string
  #teamIds: Set<number> | undefined

  /** @param text the user groups of the run as the index has them */
  constructor(first: number, text = '') {
    this.first = first
    this.#text = text
  }

  /** The user groups of the run. Parsed on first use, because an update may need only some runs. */
  get teamIds(): Set<number> {
    return (this.#teamIds ??= new Set(
      this.#text === '' ? [] : teamIdsOf({ first_team_id: this.first, team_ids: this.#text }),
    ))
  }

  /** Returns whether the run is full, and a team id greater than all of it. */
  isBefore(teamId: number): boolean {
    return (
      this.teamIds.size >= runLength &&
      !this.teamIds.has(teamId) &&
      [...this.teamIds].every((other) => other < teamId)
    )
  }

  append(gram: string, teamId: number): void {
    const teamIds = this.added.get(gram)
    if (teamIds === undefined) this.added.set(gram, [teamId])
    else if (teamIds.at(-1) !== teamId) teamIds.push(teamId)
  }
}

interface NewPosting {
  readonly first: number
  readonly gram: string
  readonly teamIds: readonly number[]
}

/** Returns null if the environment has too few changes. */
function* beginUpdate(scope: TenantScope, minimum: number): Operation<Update | null> {
  const changes = yield* sql<ChangeRow>`SELECT team_id, revision FROM unindexed_user_group
    WHERE ${inScope(scope)} ORDER BY team_id, revision LIMIT ${maxChanges}`.inBucket(null)
  if (changes.length < minimum) return null
  const runs = yield* sql<{ first_team_id: number }>`SELECT first_team_id FROM search_posting
    WHERE ${inScope(scope)} AND gram = '' AND first_team_id >= ${firstRunAt(scope, changes[0]?.team_id ?? 0)}
      AND first_team_id <= ${changes.at(-1)?.team_id}
    ORDER BY first_team_id LIMIT ${maxRuns + 1}`
  const rows = yield* readPostings(
    scope,
    runs.map((row) => row.first_team_id),
    [all],
  )
  rows.sort((a, b) => a.first_team_id - b.first_team_id)
  const end = rows[maxRuns]?.first_team_id ?? Infinity
  return {
    scope,
    changes: changes.filter((change) => change.team_id < end),
    runs: rows.slice(0, maxRuns).map((row) => new Run(row.first_team_id, row.team_ids)),
    read: 0,
    postings: undefined,
    written: 0,
    isWritten: false,
    done: 0,
  }
}

/** Handles some rows. Returns whether the update is over. */
function* continueUpdate(update: Update, portion: number): Operation<boolean> {
  const { scope, changes, runs } = update
  let left = portion
  if (update.read < changes.length) {
    const some = changes.slice(update.read, update.read + left)
    yield* readChanged(update, some)
    update.read += some.length
    left -= some.length
  }
  if (left <= 0) return false
  update.postings ??= runs.flatMap(({ first, added }) =>
    [...added].sort(([a], [b]) => (a < b ? -1 : 1)).map(([gram, teamIds]) => ({ first, gram, teamIds })),
  )
  if (update.written < update.postings.length) {
    const some = update.postings.slice(update.written, update.written + left)
    yield* writePostings(scope, some, 'append')
    update.written += some.length
    left -= some.length
  }
  if (left <= 0) return false
  if (!update.isWritten) yield* writeRuns(update)
  update.isWritten = true
  const done = changes.slice(update.done, update.done + left)
  yield* deleteChanges(scope, done)
  update.done += done.length
  return update.done === changes.length
}

/** Reads the texts of changed user groups and adds them to the postings of their runs. */
function* readChanged({ scope, runs }: Update, changes: readonly ChangeRow[]): Operation<void> {
  const teamIds = [...new Set(changes.map((change) => change.team_id))]
  // After the changes were read: a later change has a row of its own.
  const rows = yield* sql<TextRow>`SELECT team_id, provided_id, name FROM user_group
    WHERE ${postgres`workspace_id = ${scope.workspaceId} AND`} ${anyOf('team_id', 'bigint', teamIds)}`
  const rowOf = new Map(rows.map((row) => [row.team_id, row]))
  const known: { readonly run: Run; readonly gram: string; readonly teamId: number }[] = []
  for (const teamId of teamIds) {
    const row = rowOf.get(teamId)
    const run = runOf(runs, teamId, row !== undefined)
    if (run === undefined) continue
    const isKnown = run.teamIds.has(teamId)
    run.isChanged ||= isKnown !== (row !== undefined)
    if (row === undefined) {
      run.teamIds.delete(teamId)
      continue
    }
    for (const text of [row.provided_id, row.name])
      for (const gram of gramsOf(foldText(text)))
        if (isKnown) known.push({ run, gram, teamId })
        else run.append(gram, teamId)
    run.teamIds.add(teamId)
  }
  if (known.length === 0) return
  const old = yield* readPostings(
    scope,
    [...new Set(known.map(({ run }) => run.first))],
    [...new Set(known.map(({ gram }) => gram))],
  )
  const oldOf = new Map(old.map((row) => [`${row.first_team_id} ${row.gram}`, ` ${row.team_ids} `]))
  for (const { run, gram, teamId } of known)
    if (oldOf.get(`${run.first} ${gram}`)?.includes(` ${differenceOf(run.first, teamId)} `) !== true)
      run.append(gram, teamId)
}

/** Returns the run of a user group. Begins a new one if necessary, unless the user group was deleted. */
function runOf(runs: Run[], teamId: number, exists: boolean): Run | undefined {
  const at = runs.findLastIndex(({ first }) => first <= teamId)
  const run = runs[at]
  if (!exists || (run !== undefined && !run.isBefore(teamId))) return run
  const begun = new Run(teamId)
  runs.splice(at + 1, 0, begun)
  return begun
}

/** Writes which user groups the runs have, and removes the runs that are empty. */
function* writeRuns({ scope, runs }: Update): Operation<void> {
  const changed = runs.filter((run) => run.isChanged)
  const members = changed
    .filter(({ teamIds }) => teamIds.size > 0)
    .map(({ first, teamIds }) => ({ first, gram: all, teamIds: [...teamIds] }))
  yield* writePostings(scope, members, 'replace')
  const empty = changed.filter(({ teamIds }) => teamIds.size === 0).map(({ first }) => first)
  if (empty.length > 0)
    yield* sql`DELETE FROM search_posting WHERE ${inScope(scope)} AND ${anyOf('first_team_id', 'bigint', empty)}`
}

function* deleteChanges(scope: TenantScope, changes: readonly ChangeRow[]): Operation<void> {
  const done = rowsOf('done', { team_id: 'bigint', revision: 'bigint' }, changes)
  yield* sql`DELETE FROM unindexed_user_group
    WHERE ${inScope(scope)} AND (team_id, revision) IN (SELECT team_id, revision FROM ${done})`
}

function* writePostings(
  { workspaceId, environment }: TenantScope,
  postings: readonly NewPosting[],
  mode: 'append' | 'replace',
): Operation<void> {
  if (postings.length === 0) return
  const written = rowsOf(
    'new',
    { first_team_id: 'bigint', gram: 'text', team_count: 'bigint', team_ids: 'text' },
    postings.map(({ first, gram, teamIds }) => ({
      first_team_id: first,
      gram,
      team_count: teamIds.length,
      team_ids: teamIds.map((teamId) => differenceOf(first, teamId)).join(' '),
    })),
  )
  const change =
    mode === 'replace'
      ? 'team_count = excluded.team_count, team_ids = excluded.team_ids'
      : `team_count = search_posting.team_count + excluded.team_count,
         team_ids = search_posting.team_ids || ' ' || excluded.team_ids`
  yield* sql`INSERT INTO search_posting (workspace_id, environment, first_team_id, gram, team_count, team_ids)
    SELECT ${workspaceId}, ${environment}, first_team_id, gram, team_count, team_ids FROM ${written} WHERE true
    ON CONFLICT (workspace_id, environment, first_team_id, gram) DO UPDATE SET ${raw(change)}`
}

interface ChangeRow {
  readonly team_id: number
  readonly revision: number
}

interface TextRow {
  readonly team_id: number
  readonly provided_id: string
  readonly name: string
}

interface CountRow {
  readonly first_team_id: number
  readonly gram: string
  readonly team_count: number
}

interface PostingRow {
  readonly first_team_id: number
  readonly gram: string
  readonly team_ids: string
}

function teamIdsOf({ first_team_id, team_ids }: Omit<PostingRow, 'gram'>): number[] {
  return team_ids.split(' ').map((difference) => first_team_id + Number.parseInt(difference, 36))
}

const differenceOf = (first: number, teamId: number) => (teamId - first).toString(36)

function byRun<Row extends { readonly first_team_id: number }>(rows: readonly Row[]): Map<number, Row[]> {
  const runs = new Map<number, Row[]>()
  for (const row of rows) {
    const run = runs.get(row.first_team_id)
    if (run === undefined) runs.set(row.first_team_id, [row])
    else run.push(row)
  }
  return runs
}

/** Returns each three characters of a folded text, and what is left at its end, so that a prefix of a gram finds one or two. */
function gramsOf(text: string): Set<string> {
  const grams = new Set<string>()
  if (!/[\ud800-\udbff]/.test(text)) {
    for (let i = 0; i < text.length; i++) grams.add(text.slice(i, i + gramLength))
    return grams
  }
  const characters = Array.from(text)
  for (let i = 0; i < characters.length; i++) grams.add(characters.slice(i, i + gramLength).join(''))
  return grams
}

/** Returns at most `count` items, evenly spread. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count)
  return items.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step))
}

/** The start of the run that a team id belongs to; 0 if none starts before it. */
function firstRunAt(scope: TenantScope, teamId: number): Sql {
  return sql`coalesce((SELECT max(first_team_id) FROM search_posting
    WHERE ${inScope(scope)} AND gram = '' AND first_team_id <= ${teamId}), 0)`
}

function inScope({ workspaceId, environment }: TenantScope): Sql {
  return sql`workspace_id = ${workspaceId} AND environment = ${environment}`
}

import type { TenantScope } from '../../domain/tenant-scope.ts'
import { foldText } from '../../domain/user-group/user-group-filter.ts'
import { transaction, type Batch, type Operation } from './operation.ts'
import {
  all,
  encoded,
  gramsOf,
  idBytes,
  idEnd,
  inScope,
  readPostings,
  runsFrom,
  teamIdsOf,
  type PostingRow,
} from './search-postings.ts'
import { anyOf, either, postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

/** Number of user groups at which a run is full, so that a later user group begins another. */
const runLength = 8192
/** Number of changes in an environment at which they are added to the index. Until then, a search reads each of them. */
const minChanges = 2048
/** Maximum number of changes of one update. */
const maxChanges = 4096
/** Advisory lock of updates on PostgreSQL: an arbitrary number. */
const updateLock = 0x55475303

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
  const [appended, rewritten] = parted(postings.values(), isAppended)
  // The posting of all user groups is the first of its list, so that an update that is repeated appends nothing twice.
  for (const some of portions(rewritten, portion)) yield () => rewrite(scope, run, some)
  for (const some of portions(appended, portion)) yield () => append(scope, run, some)
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
    const sorted = [...teamIds].sort((a, b) => a - b)
    return { gram, team_ids: encoded(first, sorted) }
  })
  const changed = after.filter(({ gram, team_ids }) => before.get(gram)?.team_ids.equals(team_ids) !== true)
  const [emptied, written] = parted(changed, ({ team_ids }) => team_ids.length === 0)
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
  // Citus refuses the concatenation of other types than text, which PostgreSQL does not regard as immutable.
  const key = "CAST(team_id AS text) || ' ' || CAST(revision AS text)"
  yield* sql`DELETE FROM unindexed_user_group
    WHERE ${inScope(scope)} AND ${anyOf('team_id', 'bigint', teamIds)} AND ${anyOf(key, 'text', keys)}`
}

/** Returns the items that meet a condition, and the others. */
function parted<Item>(items: Iterable<Item>, meets: (item: Item) => boolean): [Item[], Item[]] {
  const parts: [Item[], Item[]] = [[], []]
  for (const item of items) parts[meets(item) ? 0 : 1].push(item)
  return parts
}

function* portions<Item>(items: readonly Item[], length: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += length) yield items.slice(at, at + length)
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

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { error, findDiskProblems, megabytes, warning, type Finding } from '../../doctor.ts'
import { isLocal, type PostgresHost } from '../../location.ts'
import { hasCitus } from '../citus/citus.ts'
import { readRole, type DatabaseCheck, type Examined } from './check.ts'
import { onEveryNode, onNode, runThere } from './nodes.ts'
import { PostgresFailure, readOnly } from '../postgres-fault.ts'
import { PrimaryPool, type Query } from '../primary-pool.ts'

const needs = ['connection']

/** Checks of the servers and of what happens in a failover (docs/operations.md). */
export const serverChecks: readonly DatabaseCheck[] = [
  { name: 'prepared-transactions', needs, run: ({ query }) => findPreparedTransactions(query) },
  { name: 'durability', needs, run: ({ query }) => findDurabilityProblems(query) },
  { name: 'replication', needs, run: findReplicationProblems },
  { name: 'hosts', needs, run: findHostProblems },
  { name: 'clock', needs, run: ({ query }) => findClockDifference(query) },
  { name: 'log', needs, run: ({ query }) => findRetainedLog(query) },
  { name: 'disk', needs, run: findServerDiskProblems },
]

interface PreparedTransaction {
  readonly gid: string
  readonly age: number
}

/** A prepared transaction of this age is not in flight, in seconds. */
const leftBehindAfterS = 60
/** Time after which a second look finds transactions in flight finished, in milliseconds. */
const secondLookAfterMs = 2000

/** Finds transactions that hold locks, and that nobody commits or rolls back. */
async function findPreparedTransactions(query: Query): Promise<Finding[]> {
  const list = async () => {
    const nodes = await onEveryNode<PreparedTransaction>(
      query,
      'SELECT gid, extract(epoch FROM now() - prepared)::float8 AS age FROM pg_prepared_xacts WHERE database = current_database() ORDER BY prepared',
    )
    return nodes.flatMap(({ node, rows }) => rows.map((row) => ({ ...row, node })))
  }
  let found = await list()
  if (found.some(({ age }) => age < leftBehindAfterS)) {
    await sleep(secondLookAfterMs)
    const before = new Set(found.map(({ node, gid }) => `${node} ${gid}`))
    found = (await list()).filter(({ node, gid }) => before.has(`${node} ${gid}`))
  }
  const isCitus = await hasCitus(query)
  if (found.length === 0) return isCitus ? findRecoveryProblems(query) : []
  const recovery = isCitus ? await readRecovery(query) : undefined
  const findings = found.map(({ gid, node, age }) => {
    const text = `The prepared transaction ${gid}${onNode(node)} has held its locks for ${Math.round(age)} s.`
    const [, group] = /^citus_(\d+)_/.exec(gid) ?? []
    if (recovery !== undefined && group !== undefined && recovery.groups.has(Number(group))) {
      const outcome = recovery.committed.has(gid) ? 'commits' : 'rolls back'
      return (age < 2 * leftBehindAfterS ? warning : error)(
        `${text} Citus ${outcome} it at its next recovery.`,
        'Run as a superuser on the coordinator: `SELECT recover_prepared_transactions()`.',
      )
    }
    const name = `'${gid.replaceAll("'", "''")}'`
    return error(
      text,
      `${runThere(node, `ROLLBACK PREPARED ${name}`)} If the program that prepared it has committed its part elsewhere, run \`COMMIT PREPARED ${name}\` instead.`,
    )
  })
  return isCitus ? [...findings, ...(await findRecoveryProblems(query))] : findings
}

interface Recovery {
  /** Groups of nodes that recover the prepared transactions that they began. */
  readonly groups: ReadonlySet<number>
  /** Transactions whose commit is recorded. Citus rolls back all others. */
  readonly committed: ReadonlySet<string>
}

async function readRecovery(query: Query): Promise<Recovery> {
  const groups = await query<{ id: number }>('SELECT groupid AS id FROM pg_dist_node')
  const nodes = await onEveryNode<{ gid: string }>(query, 'SELECT gid FROM pg_dist_transaction')
  return {
    groups: new Set(groups.map(({ id }) => id)),
    committed: new Set(nodes.flatMap(({ rows }) => rows.map(({ gid }) => gid))),
  }
}

async function findRecoveryProblems(query: Query): Promise<Finding[]> {
  const nodes = await onEveryNode<{ is_off: boolean }>(
    query,
    "SELECT setting = '-1' AS is_off FROM pg_settings WHERE name = 'citus.recover_2pc_interval'",
  )
  return nodes
    .filter(({ rows }) => rows[0]?.is_off)
    .map(({ node }) =>
      error(
        `Citus recovers no prepared transactions${onNode(node)}.`,
        runThere(node, 'ALTER SYSTEM RESET citus.recover_2pc_interval; SELECT pg_reload_conf()'),
      ),
    )
}

async function findDurabilityProblems(query: Query): Promise<Finding[]> {
  const nodes = await onEveryNode<Record<'fsync' | 'full_page_writes' | 'synchronous_commit', string>>(
    query,
    `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
            current_setting('synchronous_commit') AS synchronous_commit`,
  )
  return nodes.flatMap(({ node, rows }) => {
    const [settings] = rows
    const off = (['fsync', 'full_page_writes'] as const)
      .filter((name) => settings?.[name] === 'off')
      .map((name) =>
        error(
          `${name} is off${onNode(node)}: a crash of the machine can destroy the database.`,
          runThere(node, `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`),
        ),
      )
    if (settings?.synchronous_commit !== 'off') return off
    return [
      ...off,
      error(
        `synchronous_commit is off${onNode(node)}: a crash loses acknowledged changes.`,
        `Find where it is set, in the server, the database or the role, and set it to on: ${runThere(node, 'ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf()')}`,
      ),
    ]
  })
}

interface Replication {
  readonly names: string
  readonly commit: string
  /** True if the role may see which standbys are synchronous. */
  readonly sees: boolean
  readonly standbys: number
  readonly synchronous: number
}

/** Leaves out receivers of logical replication, which Citus uses to move shards. */
const replicationStatement = `SELECT current_setting('synchronous_standby_names') AS names, current_setting('synchronous_commit') AS commit,
  pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees,
  count(pid)::integer AS standbys, count(pid) FILTER (WHERE sync_state IN ('sync', 'quorum'))::integer AS synchronous
  FROM pg_stat_replication WHERE pid NOT IN (
    SELECT active_pid FROM pg_replication_slots WHERE active_pid IS NOT NULL AND slot_type = 'logical'
  )`

async function findReplicationProblems({ query, server }: Examined): Promise<Finding[]> {
  const role = await readRole(query)
  const nodes = await onEveryNode<Replication>(query, replicationStatement)
  return nodes.flatMap(({ node, rows }) =>
    rows.flatMap((row) => findStandbyProblems(row, { node, role, expectsStandby: server.hosts.length > 1 })),
  )
}

function findStandbyProblems(
  { names, commit, sees, standbys, synchronous }: Replication,
  { node, role, expectsStandby }: { node: string | null; role: string; expectsStandby: boolean },
): Finding[] {
  const set = (value: string) =>
    `ALTER SYSTEM SET synchronous_standby_names = '${value}'; SELECT pg_reload_conf()`
  if (names === '') {
    if (standbys === 0 && !(expectsStandby && node === null)) return []
    return [
      warning(
        `synchronous_standby_names is empty${onNode(node)}: a failover loses the latest acknowledged changes.`,
        runThere(node, set('FIRST 1 (*)')),
      ),
    ]
  }
  if (standbys === 0 || (sees && synchronous === 0)) {
    return [
      error(
        `No standby matches synchronous_standby_names${onNode(node)}: every change waits for one and gets 503.`,
        `Start the standby. If there is none, ${decapitalized(runThere(node, set('')))}`,
      ),
    ]
  }
  if (!sees) {
    return [
      warning(
        `The role may not see whether a standby is synchronous${onNode(node)}.`,
        runThere(node, `GRANT pg_monitor TO ${role}`),
      ),
    ]
  }
  return commit === 'local'
    ? [
        warning(
          `synchronous_commit is local${onNode(node)}: a failover loses the latest acknowledged changes.`,
          runThere(node, 'ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf()'),
        ),
      ]
    : []
}

const decapitalized = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1)

/** Connects to each host of the URL. */
async function findHostProblems({ server, options }: Examined): Promise<Finding[] | null> {
  const { hosts } = server
  if (hosts.length < 2) return null
  const findings: Finding[] = []
  if (options.connectTimeoutMs * hosts.length >= options.deadlineMs) {
    findings.push(
      warning(
        'UGS_POSTGRES_CONNECT_TIMEOUT_MS is too long to reach the last host within UGS_POSTGRES_DEADLINE_MS.',
        `Set UGS_POSTGRES_CONNECT_TIMEOUT_MS below ${Math.floor(options.deadlineMs / hosts.length)}.`,
      ),
    )
  }
  /** Start times of the servers that accept writes. Two hosts may be addresses of one server. */
  const writable = new Map<string, string>()
  for (const host of hosts) {
    const name = `${host.host}:${host.port}`
    const state = await readHost(host, { server, options })
    if ('startedAt' in state) writable.set(state.startedAt, name)
    else if (state.code !== readOnly) {
      findings.push(
        warning(
          `The host ${name} cannot be reached (${state.code}).`,
          'Start the server there, or remove the host from DATABASE_URL.',
        ),
      )
    }
  }
  if (writable.size < 2) return findings
  return [
    error(
      `Several servers accept writes: ${[...writable.values()].join(', ')}.`,
      'Stop the old primary with `pg_ctl stop -m fast`, then make it a standby of the new one with `pg_rewind` or `pg_basebackup`.',
    ),
    ...findings,
  ]
}

async function readHost(
  host: PostgresHost,
  { server, options }: Pick<Examined, 'server' | 'options'>,
): Promise<{ readonly startedAt: string } | { readonly code: string }> {
  const pool = new PrimaryPool({ ...server, hosts: [host] }, { ...options, poolSize: 1 })
  try {
    const [row] = await pool.query<{ at: string }>('SELECT pg_postmaster_start_time()::text AS at')
    return { startedAt: row?.at ?? '' }
  } catch (failure) {
    if (!(failure instanceof PostgresFailure)) throw failure
    return { code: failure.code }
  } finally {
    await pool.close()
  }
}

/** Differences from which the check warns, and fails, in milliseconds. */
const warnedDifferenceMs = 2000
const refusedDifferenceMs = 30_000
const clockSamples = 3

async function findClockDifference(query: Query): Promise<Finding[]> {
  const samples = []
  for (let sample = 0; sample < clockSamples; sample++) {
    const before = Date.now()
    const [row] = await query<{ now: number }>(
      'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
    )
    const after = Date.now()
    samples.push({ roundTrip: after - before, aheadMs: (before + after) / 2 - (row?.now ?? 0) })
  }
  const { aheadMs } = samples.reduce((best, next) => (next.roundTrip < best.roundTrip ? next : best))
  const difference = Math.abs(aheadMs)
  if (difference < warnedDifferenceMs) return []
  return [
    (difference < refusedDifferenceMs ? warning : error)(
      `The clock of this machine is ${(difference / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the database.`,
      'Synchronize the clock of the machine that is wrong: `timedatectl set-ntp true`.',
    ),
  ]
}

/** Size of the log that an unused slot may hold, in bytes. */
const refusedLogBytes = 1024 * 1_048_576

/** Finds replication slots without a receiver. They keep the write-ahead log until the disk is full. */
async function findRetainedLog(query: Query): Promise<Finding[]> {
  const nodes = await onEveryNode<{ name: string; bytes: number }>(
    query,
    `SELECT slot_name AS name,
            pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn)::float8 AS bytes
     FROM pg_replication_slots WHERE NOT active AND NOT temporary AND restart_lsn IS NOT NULL ORDER BY slot_name`,
  )
  return nodes.flatMap(({ node, rows }) =>
    rows.map(({ name, bytes }) =>
      (bytes < refusedLogBytes ? warning : error)(
        `The replication slot ${name}${onNode(node)} has no receiver and keeps ${megabytes(bytes)} of the write-ahead log.`,
        `Start its receiver. If there is none, ${decapitalized(runThere(node, `SELECT pg_drop_replication_slot('${name}')`))}`,
      ),
    ),
  )
}

/** Free space that a database wants, in bytes. */
const wantedServerBytes = 1024 * 1_048_576

/** The disk of a server on another machine cannot be read. */
async function findServerDiskProblems({ query, server }: Examined): Promise<Finding[] | null> {
  if (!server.hosts.every(isLocal)) return null
  const [row] = await query<{ folder: string }>(
    "SELECT setting AS folder FROM pg_settings WHERE name = 'data_directory'",
  )
  if (row === undefined) {
    return [
      warning(
        "The role may not see the server's data folder, so its disk was not checked.",
        runThere(null, `GRANT pg_monitor TO ${await readRole(query)}`),
      ),
    ]
  }
  // The server may run in a container.
  return existsSync(row.folder) ? findDiskProblems(row.folder, wantedServerBytes) : null
}

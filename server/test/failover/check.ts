import { hashToken } from '../../src/domain/token/token.ts'
import type { RecordedResponse, RecordedRequest } from './ledger.ts'

/** A user group in the database after the round, with hashes of its tokens. */
export interface Kept {
  readonly current: KeptToken
  readonly superseded: readonly KeptToken[]
  /** The number in its properties. */
  readonly revision: number
  /** Number of changes, including the creation. */
  readonly changes: number
  /** Number of audit events, by action. */
  readonly events: Readonly<Record<string, number>>
}

export interface KeptToken {
  readonly hash: string
  readonly issuedAt: number
}

type Done = RecordedRequest & { readonly response: RecordedResponse }

/** Compares every response about one user group with the database, and returns the differences. */
export function checkUserGroup(requests: readonly RecordedRequest[], kept: Kept | undefined): string[] {
  const done = requests.filter((request): request is Done => request.response !== undefined)
  if (kept === undefined) return done.length > 0 ? ['was acknowledged and is not there'] : []
  const steps = stepsOf(done)
  return [
    ...checkCreation(requests, done),
    ...checkRotations(requests, kept, steps),
    ...checkRefusals(requests, kept),
    ...checkTokensSeen(requests, done, chainOf(kept, steps)),
    ...checkRevisions(requests, done, kept),
    ...checkAudit(kept),
  ]
}

/** Returns the acknowledged rotations: hashes of the new tokens by the hash of the old one. There must be one per old token. */
function stepsOf(done: readonly Done[]): Map<string, Set<string>> {
  const steps = new Map<string, Set<string>>()
  for (const { kind, from, response } of done) {
    if (kind !== 'rotate' || from === undefined) continue
    const old = hashOf(from)
    steps.set(old, (steps.get(old) ?? new Set()).add(hashOf(response.token)))
  }
  return steps
}

function* checkCreation(requests: readonly RecordedRequest[], done: readonly Done[]): Generator<string> {
  const creations = done.filter(({ response }) => response.isNew)
  if (creations.length > 1) yield `was created ${creations.length} times`
  const [creation] = creations
  if (creation === undefined) {
    const inDoubt = requests.some(({ kind, outcome }) => kind === 'create' && outcome === 'in doubt')
    if (!inDoubt) yield 'is there, and no creation was acknowledged, nor any in doubt'
  } else if (done.some(({ endedAt }) => endedAt < creation.startedAt)) yield 'was created when it was there'
}

function* checkRotations(
  requests: readonly RecordedRequest[],
  { current, superseded }: Kept,
  steps: ReadonlyMap<string, ReadonlySet<string>>,
): Generator<string> {
  const old = new Set(superseded.map(({ hash }) => hash))
  for (const [from, to] of steps) {
    if (to.size > 1) yield `one token was replaced by ${to.size}`
    if (!old.has(from)) yield 'a token whose replacement was acknowledged is not superseded'
    for (const hash of to) {
      if (hash !== current.hash && !old.has(hash)) yield 'the token of an acknowledged rotation is not there'
    }
  }
  const byKey = new Map<string, string>()
  for (const { key, response } of requests) {
    if (key === undefined || response === undefined) continue
    if ((byKey.get(key) ?? response.token) !== response.token) yield 'one Idempotency-Key got two tokens'
    byKey.set(key, response.token)
  }
  // One row per acknowledged rotation, and at most one per ambiguous one: no rotation ran twice.
  const doubted = new Set(
    requests.flatMap(({ from, outcome }) =>
      from !== undefined && outcome === 'in doubt' ? [hashOf(from)] : [],
    ),
  )
  for (const hash of old) {
    if (!steps.has(hash) && !doubted.has(hash)) yield 'a token was replaced without a rotation'
  }
}

/** A rotation may be refused only if another one, acknowledged or ambiguous, replaced its token. */
function* checkRefusals(requests: readonly RecordedRequest[], { superseded }: Kept): Generator<string> {
  const rotations = requests.filter(({ kind }) => kind === 'rotate')
  for (const refused of rotations.filter(({ outcome }) => outcome === 'superseded')) {
    const hasReason = rotations.some(
      ({ from, key, outcome, startedAt }) =>
        from === refused.from &&
        (key === undefined || key !== refused.key) &&
        (outcome === 'done' || outcome === 'in doubt') &&
        startedAt < refused.endedAt,
    )
    const hash = hashOf(refused.from as string)
    if (!hasReason || superseded.every((token) => token.hash !== hash))
      yield '409, and nothing had replaced the token'
  }
}

/** Returns the tokens in order of replacement. Ambiguous ones are placed by time. */
function chainOf(
  { current, superseded }: Kept,
  steps: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, number> {
  const replacements = new Set([...steps.values()].flatMap((to) => [...to]))
  const starts = [...superseded, current]
    .filter(({ hash }) => !replacements.has(hash))
    .sort((a, b) => a.issuedAt - b.issuedAt)
  const positions = new Map<string, number>()
  for (const start of starts) {
    for (let hash: string | undefined = start.hash; hash !== undefined && !positions.has(hash);) {
      positions.set(hash, positions.size)
      ;[hash] = steps.get(hash) ?? []
    }
  }
  return positions
}

/** No response contains a token that is not in the database, or an older token than an earlier response. */
function* checkTokensSeen(
  requests: readonly RecordedRequest[],
  done: readonly Done[],
  positions: ReadonlyMap<string, number>,
): Generator<string> {
  const sightings: Sighting[] = []
  for (const { key, startedAt, endedAt, response } of done) {
    const position = positions.get(hashOf(response.token))
    if (position === undefined) yield 'a response has a token that is not there'
    else {
      // A retry gets the response of the first attempt, regardless of changes in between.
      const first = key === undefined ? undefined : requests.find((request) => request.key === key)
      sightings.push({ value: position, from: first?.startedAt ?? startedAt, to: endedAt })
    }
  }
  if (goesBack(sightings)) yield 'a response has an older token than one before it'
}

/** No acknowledged update is lost or replaced by one that was sent earlier. No refused update is present. */
function* checkRevisions(
  requests: readonly RecordedRequest[],
  done: readonly Done[],
  kept: Kept,
): Generator<string> {
  const writes = requests.filter(({ revision }) => revision !== undefined)
  const sightings = done.flatMap(({ response, startedAt, endedAt }) =>
    response.revision === undefined ? [] : [{ value: response.revision, from: startedAt, to: endedAt }],
  )
  sightings.push({ value: kept.revision, from: Infinity, to: Infinity })
  for (const { value, to } of sightings) {
    const isSent = writes.some(
      ({ revision, outcome, startedAt }) =>
        revision === value && (outcome === 'done' || outcome === 'in doubt') && startedAt < to,
    )
    if (!isSent) yield `has the revision ${value}, which was never sent or was reported as undone`
  }
  if (done.some(({ revision, response }) => revision !== undefined && revision !== response.revision)) {
    yield 'an update got the response to another one'
  }
  if (goesBack(sightings)) yield 'an update was lost: a response has an older revision than one before it'
}

/** The audit log contains exactly one event per change, acknowledged or not. */
function* checkAudit({ changes, superseded, events }: Kept): Generator<string> {
  const expected = {
    'user_group.created': 1,
    'user_group.token_rotated': superseded.length,
    'user_group.updated': changes - 1 - superseded.length,
  }
  for (const [action, count] of Object.entries(expected)) {
    if ((events[action] ?? 0) !== count)
      yield `has ${count} × ${action}, and ${events[action] ?? 0} events of it`
  }
}

interface Sighting {
  readonly value: number
  readonly from: number
  readonly to: number
}

/** Returns true if a request that began after another had ended has a lower value. */
function goesBack(sightings: readonly Sighting[]): boolean {
  const byEnd = sightings.toSorted((a, b) => a.to - b.to)
  let ended = 0
  let highest = -Infinity
  for (const { from, value } of sightings.toSorted((a, b) => a.from - b.from)) {
    for (let next = byEnd[ended]; next !== undefined && next.to < from; next = byEnd[++ended]) {
      highest = Math.max(highest, next.value)
    }
    if (value < highest) return true
  }
  return false
}

export function hashOf(token: string): string {
  return hashToken(token).toString('hex')
}

import { after, test, type TestContext } from 'node:test'
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { startService } from '../support/service.ts'
import { Game } from './game.ts'
import { drafts, draftsOfOne, firstDraft } from './requests.ts'

// Generated requests of `/api/user` against a model of the contract. `npm run test:hostile` plays many more.

const service = await startService({ after })
const game = await Game.begin(service)
after(() => game.end())
const wanted = Number(process.env.HOSTILE_CASES ?? 2500)
const seed = Number(process.env.HOSTILE_SEED ?? Date.now() % 2 ** 31)

/** Plays until so many answers have been held against the model, and tells of them. */
async function playUntil<T>(
  t: TestContext,
  count: number,
  sequences: fc.Arbitrary<T>,
  play: (sequence: T) => Promise<void>,
): Promise<void> {
  const before = game.cases
  for (let round = 0; game.cases < before + count; round++) {
    await fc.assert(fc.asyncProperty(sequences, play), { numRuns: 50, seed: seed + round })
  }
  t.diagnostic(`${game.cases - before} answers, from the seed ${seed}`)
}

test('requests in turn are answered as the model answers them', async (t) => {
  const sequences = fc.tuple(
    fc.boolean(),
    fc.array(drafts(game.players.length), { minLength: 1, maxLength: 40, size: 'max' }),
  )
  await playUntil(t, wanted, sequences, ([begins, sequence]) =>
    game.play(begins ? [firstDraft, ...sequence] : sequence),
  )
  t.diagnostic(
    [...game.counts]
      .sort()
      .map(([what, count]) => `${what}: ${count}`)
      .join(', '),
  )
  // What is hardly ever met is not tested.
  for (const code of [
    'malformed_json',
    'validation_failed',
    'name_required',
    'forbidden',
    'user_group_not_found',
    'token_not_found',
    'token_superseded',
    'idempotency_key_reused',
  ]) {
    assert.ok(
      [...game.counts].some(([what, count]) => what.endsWith(code) && count > wanted / 500),
      code,
    )
  }
})

test('requests at once are answered as if they had come in some order', async (t) => {
  const sequences = fc.tuple(
    fc.array(draftsOfOne, { maxLength: 3 }),
    fc.array(draftsOfOne, { minLength: 2, maxLength: 5 }),
  )
  await playUntil(t, wanted / 2, sequences, ([first, atOnce]) => game.playAtOnce(first, atOnce))
})

test('it is the same process, and it wrote of no fault of its own', () => {
  process.kill(service.pid, 0)
  assert.doesNotMatch(service.stderr(), /"level":(50|60)|request failed/)
})

import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { startService } from '../support/service.ts'
import { Game } from './game.ts'
import { drafts, draftsOfOne, firstDraft } from './requests.ts'

// Compares generated requests of `/api/user` with a model of the contract. `npm run test:hostile` sends many more, in several games
// at once.

const cases = Number(process.env.HOSTILE_CASES ?? 1000)
const gameCount = Number(process.env.HOSTILE_GAMES ?? 1)
const seed = Number(process.env.HOSTILE_SEED ?? Date.now() % 2 ** 30)

const service = await startService({ after })
const games: Game[] = []
for (let i = 0; i < gameCount; i++) games.push(await Game.begin(service, i))

/** Sends sequences until the given number of responses is compared. */
async function playUntil<T>(
  t: TestContext,
  count: number,
  sequences: fc.Arbitrary<T>,
  play: (game: Game, sequence: T) => Promise<void>,
): Promise<void> {
  const played = () => games.reduce((sum, game) => sum + game.cases, 0)
  const before = played()
  let round = 0
  await Promise.all(
    games.map(async (game) => {
      while (played() < before + count) {
        const property = fc.asyncProperty(sequences, (sequence) =>
          play(game, sequence).finally(() => game.hangUp()),
        )
        await fc.assert(property, { numRuns: 50, seed: seed + round++ })
      }
    }),
  )
  t.diagnostic(`${played() - before} responses; the seed is ${seed}`)
}

test('sequential requests get the responses of the model', async (t) => {
  const sequences = fc.tuple(
    fc.boolean(),
    fc.array(drafts(games[0]?.players.length ?? 0), { minLength: 1, maxLength: 40, size: 'max' }),
  )
  await playUntil(t, cases, sequences, (game, [begins, sequence]) =>
    game.play(begins ? [firstDraft, ...sequence] : sequence),
  )
  const counts = new Map<string, number>()
  for (const game of games) {
    for (const [title, count] of game.counts) counts.set(title, (counts.get(title) ?? 0) + count)
  }
  t.diagnostic(
    Array.from(counts, ([title, count]) => `${title}: ${count}`)
      .sort()
      .join(', '),
  )
  // A response that rarely occurs is not tested.
  for (const title of [
    '200',
    '400 malformed_json',
    '400 validation_failed',
    '400 name_required',
    '401 unauthenticated',
    '403 forbidden',
    '404 user_group_not_found',
    '404 token_not_found',
    '409 token_superseded',
    '415 unsupported_media_type',
  ]) {
    assert.ok((counts.get(title) ?? 0) > cases / 500, title)
  }
})

test('concurrent requests get the responses of some sequential order', async (t) => {
  const sequences = fc.tuple(
    fc.array(draftsOfOne, { maxLength: 3 }),
    fc.array(draftsOfOne, { minLength: 2, maxLength: 5 }),
  )
  await playUntil(t, cases / 2, sequences, (game, [first, atOnce]) => game.playAtOnce(first, atOnce))
})

test('it is the same process, and it has logged no failure', () => {
  process.kill(service.pid, 0)
  assert.doesNotMatch(service.stderr(), /request failed/)
})

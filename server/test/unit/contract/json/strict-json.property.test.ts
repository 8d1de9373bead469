import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { isAcceptedNumber } from '../../../../src/contract/json/json-number.ts'
import { readStrictJson, type JsonDocument } from '../../../../src/contract/json/strict-json.ts'
import { Fault } from '../../../../src/domain/fault.ts'
import { asBytes, numberText, valueText } from '../../../support/json-texts.ts'
import {
  compactText,
  depthOf,
  memberOf,
  nulsIn,
  pointerOf,
  readSlowly,
  type SlowValue,
} from '../../../support/slow-json.ts'

/** `npm run test:hostile` sets a larger number. */
const numRuns = Number(process.env.HOSTILE_CASES ?? 1000)
const seed = process.env.HOSTILE_SEED === undefined ? {} : { seed: Number(process.env.HOSTILE_SEED) }

function readOrRefuse(bytes: Buffer): JsonDocument | Fault {
  try {
    return readStrictJson(bytes)
  } catch (error) {
    assert.ok(error instanceof Fault, String(error))
    return error
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function assertRead({ value, members }: JsonDocument, slow: SlowValue): void {
  assert.deepEqual(value, parsed(slow.text))
  const names = slow.kind === 'object' ? slow.members.map(([name]) => name) : []
  assert.deepEqual([...members.keys()], names)
  for (const [name, { text, depth, nulPointer, bytes }] of members) {
    const member = memberOf(slow, name) as SlowValue
    assert.equal(text, ['object', 'array'].includes(member.kind) ? member.text : '')
    assert.equal(depth, depthOf(member))
    const [nul] = nulsIn(member)
    assert.equal(nulPointer, nul === undefined ? null : pointerOf([name, ...nul]))
    assert.equal(bytes, Buffer.byteLength(compactText(member)))
  }
}

it('JSON is read or refused by the contract, with the values of JSON.parse', () => {
  const counts = { value: 0, malformed: 0, broken: 0 }
  fc.assert(
    fc.property(asBytes(valueText, 40), (bytes) => {
      const result = readOrRefuse(bytes)
      const slow = readSlowly(bytes)
      counts[slow.kind]++
      if (slow.kind === 'value') {
        assert.ok(!(result instanceof Fault), result instanceof Fault ? result.message : '')
        assertRead(result, slow.value)
        assert.deepEqual(result.value, parsed(bytes.toString()))
        return
      }
      assert.ok(result instanceof Fault)
      assert.equal(result.code, 'malformed_json')
      assert.ok(result.message.isWellFormed())
      const paths = result.fields.map(({ path }) => path)
      if (slow.kind === 'malformed') assert.deepEqual(paths, [])
      else
        assert.ok(
          paths.length === 1 && slow.paths.includes(paths[0] as string),
          `${paths.join()} of ${slow.paths.join()}`,
        )
      // JSON.parse accepts the same texts, except those with a byte order mark or invalid UTF-8.
      if (bytes.equals(Buffer.from(bytes.toString())) && !bytes.toString().startsWith('\ufeff')) {
        assert.equal(parsed(bytes.toString()) === undefined, slow.kind === 'malformed')
      }
    }),
    { numRuns, ...seed },
  )
  // The test needs a good share of each kind.
  for (const [kind, count] of Object.entries(counts)) assert.ok(count > numRuns / 50, `${kind}: ${count}`)
})

it('a number is accepted or refused by the contract', () => {
  const counts = { value: 0, broken: 0 }
  fc.assert(
    fc.property(numberText, (text) => {
      const { kind } = readSlowly(Buffer.from(text))
      assert.ok(kind !== 'malformed')
      counts[kind]++
      assert.equal(isAcceptedNumber(text), kind === 'value', text)
    }),
    { numRuns, ...seed },
  )
  for (const [kind, count] of Object.entries(counts)) assert.ok(count > numRuns / 10, `${kind}: ${count}`)
})

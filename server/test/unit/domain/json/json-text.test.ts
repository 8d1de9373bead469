import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sameJson } from '../../../../src/domain/json/json-text.ts'

const same = [
  ['{"a":1,"b":2}', '{"b":2,"a":1}'],
  ['{"a":1.0}', '{"a":1}'],
  ['{"a":"\\u0061"}', '{"a":"a"}'],
  ['{"a":0.30000000000000004,"b":1}', '{"b":1,"a":0.30000000000000004}'],
  ['{"\\"":0.1,"a":"\\\\"}', '{"a":"\\\\","\\"":0.10}'],
] as const
const different = [
  ['{"a":1}', '{"a":2}'],
  ['{"a":0}', '{"a":-0}'],
  ['[1,2]', '[2,1]'],
  ['{"a":0.1}', '{"a":0.10000000000000001}'],
  ['{"a":[0.10000000000000001]}', '{"a":[0.10000000000000000]}'],
  ['{"a":0.10000000000000001}', '{"a":"0.10000000000000001"}'],
] as const

describe('two JSON texts', () => {
  for (const [a, b] of same) it(`have the same value: ${a} ${b}`, () => assert.ok(sameJson(a, b)))
  for (const [a, b] of different) it(`have different values: ${a} ${b}`, () => assert.ok(!sameJson(a, b)))
})

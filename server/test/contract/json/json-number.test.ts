import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isExactNumber } from '../../../src/contract/json/json-number.ts'

const exact = [
  '0', '-0', '0.0', '0e999', '-0.000e-999', '1', '-1', '1.0', '10', '100', '0.1', '0.10', '123e45', '1E5', '1e+5', '1e-5',
  '9007199254740991', '9007199254740992', '9007199254740994', '-9007199254740991', '1.7976931348623157e308', '5e-324',
  '2.2250738585072014e-308', '0.30000000000000004', '123456789012345680000', '1.5e300', '0.000001', '1e21', '1e-7',
  '36028797018963968', '-18446744073709551616', '1152921504606846976.0', '0.1000000000000000055511151231257827021181583404541015625',
  '36028797018963968e0', '0.36028797018963968e17', '1125899906842624.25',
] // prettier-ignore
const inexact = [
  '9007199254740993', '12345678901234567890', '0.12345678901234567890', '1e400', '-1e400', '1e-400', '1.7976931348623159e308',
  '3e-324', '36028797018963969', '18446744073709551615', '0.1000000000000000055511151231257827021181583404541015624', '0.1000000000000000055511151231257827', '1.00000000000000000001', '123456789.123456789123456789', '1e999999999999999999', '1e-999999999', '1e-999999999999999999',
] // prettier-ignore

describe('a number that a double represents exactly', () => {
  for (const text of exact) it(`is ${text}`, () => assert.ok(isExactNumber(text)))
  for (const text of inexact) it(`is not ${text}`, () => assert.ok(!isExactNumber(text)))

  it('is recognized in linear time, with a million digits', () => {
    assert.ok(!isExactNumber(`0.1${'0'.repeat(1_000_000)}1`))
    assert.ok(isExactNumber(`0.1${'0'.repeat(1_000_000)}`))
  })

  it('is every double, in any notation', () => {
    const view = new DataView(new ArrayBuffer(8))
    let state = 1
    for (let i = 0; i < 20_000; i++) {
      for (let byte = 0; byte < 8; byte++) {
        state = (Math.imul(state, 48_271) >>> 0) % 0x7fffffff
        view.setUint8(byte, state & 0xff)
      }
      const double = view.getFloat64(0)
      if (!Number.isFinite(double)) continue
      assert.ok(isExactNumber(String(double)), String(double))
      assert.ok(isExactNumber(double.toExponential()), double.toExponential())
    }
  })
})

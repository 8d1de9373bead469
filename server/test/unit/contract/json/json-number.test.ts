import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isAcceptedNumber } from '../../../../src/contract/json/json-number.ts'

const accepted = [
  '0', '-0', '0.0', '0e999', '-0.000e-999', '1', '-1', '1.0', '10', '100', '0.1', '0.10', '123e45', '1E5', '1e+5', '1e-5',
  '9007199254740991', '9007199254740992', '9007199254740994', '-9007199254740991', '1.7976931348623157e308', '5e-324', '4.9E-324', '3e-324',
  '2.2250738585072014e-308', '0.30000000000000004', '0.10000000000000001', '-0.12345678901234567', '12345678901.234567', '1.5e300', '0.000001', '1e21', '1e-7',
  '36028797018963968', '-18446744073709551616', '1152921504606846976', '100000000000000000000', '9.9999999999999992e+22', '36028797018963968e0', '0.36028797018963968e17',
  '1.00000000000000000000', '0.000000000000000000001',
] // prettier-ignore
const refused = [
  '9007199254740993', '-9007199254740993', '12345678901234567890', '123456789012345680000', `1${'0'.repeat(23)}`, `1${'0'.repeat(400)}`, '36028797018963969', '18446744073709551615',
  '0.12345678901234567890', '0.123456789012345678', '3.141592653589793238', '1125899906842624.25', '0.1000000000000000055511151231257827021181583404541015625', '1.00000000000000000001', '123456789012345678e1',
  '1e400', '-1e400', '1e-400', '2e-324', '1.7976931348623159e308', '1e999999999999999999', '1e-999999999', '1e-999999999999999999',
] // prettier-ignore

describe('a number that is accepted', () => {
  for (const text of accepted) it(`is ${text}`, () => assert.ok(isAcceptedNumber(text)))
  for (const text of refused) it(`is not ${text}`, () => assert.ok(!isAcceptedNumber(text)))

  it('is recognized in linear time, with a million digits', () => {
    assert.ok(!isAcceptedNumber(`0.1${'0'.repeat(1_000_000)}1`))
    assert.ok(isAcceptedNumber(`0.1${'0'.repeat(1_000_000)}`))
  })

  it('is every double, also in the notation of printf with %.17g', () => {
    const view = new DataView(new ArrayBuffer(8))
    let state = 1
    for (let i = 0; i < 20_000; i++) {
      for (let byte = 0; byte < 8; byte++) {
        state = (Math.imul(state, 48_271) >>> 0) % 0x7fffffff
        view.setUint8(byte, state & 0xff)
      }
      const double = view.getFloat64(0)
      if (!Number.isFinite(double)) continue
      for (const text of [double.toExponential(), double.toExponential(16)])
        assert.ok(isAcceptedNumber(text), text)
    }
  })
})

import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { getOrCreate } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { searchAll } from './search-contract.ts'

interface Question {
  readonly path: readonly string[]
  readonly value: string
  /** The properties, of those below, that match. */
  readonly has: readonly string[]
}

const string = '{"v":"gold"}'
const digits = '{"v":"1.5"}'
const number = '{"v":1.5}'
const exponent = '{"v":15e-1}'
const hundred = '{"v":1E2}'
const zero = '{"v":-0}'
const large = '{"v":9007199254740991}'
const small = '{"v":5e-324}'
const longest = '{"v":123e45}'
const yes = '{"v":true}'
const no = '{"v":false}'
const spelled = '{"v":"true"}'
const nothing = '{"v":null}'
const nullText = '{"v":"null"}'
const empty = '{"v":""}'
const escapes = '{"\\u0076":"\\u00e9\\n\\"\\\\ \\ud83d\\ude00"}'
const nested = '{"a":{"b":{"c":"deep"}}}'
const dots = '{"a.b":"dots","a":{"b.c":"deep dots"}}'
const array = '{"v":["gold",1.5,{"0":"in an array"}]}'
const numbered = '{"v":{"0":"gold","-1":"gold","1":1.5}}'
const object = '{"v":{}}'
const odd = JSON.stringify({
  '"': '1',
  "'": '2',
  '\\': '3',
  '': '4',
  '$.v': '5',
  '{a,b}': '6',
  é: '7',
  '😀': '8',
  '%': '9',
  '0': '10',
  NULL: '11',
  'a,b': '12',
})
const proto = '{"__proto__":{"toString":"own","n":1},"constructor":"gold"}'
const shadowed = '{"toString":"gold","v":{"hasOwnProperty":"gold"}}'
const all = [
  ...[string, digits, number, exponent, hundred, zero, large, small, longest, yes, no, spelled, nothing],
  ...[nullText, empty, escapes, nested, dots, array, numbered, object, odd, proto, shadowed, '{}'],
]

const at = (path: string | readonly string[], value: string, ...has: string[]): Question => ({
  ...{ path: typeof path === 'string' ? [path] : path, value, has },
})

const questions: Record<string, readonly Question[]> = {
  'a string by its exact value': [
    at('v', 'gold', string),
    at('v', 'Gold'),
    at('v', 'gol'),
    at('v', 'gold '),
    at('v', '"gold"'),
    at('v', 'gol%'),
    at('v', '', empty),
    at('v', 'é\n"\\ 😀', escapes),
    at('v', '\\u00e9'),
  ],
  'a number in any notation': [
    at('v', '1.5', digits, number, exponent),
    at('v', '1.50', number, exponent),
    at('v', '15e-1', number, exponent),
    at('v', '150E-2', number, exponent),
    at('v', '100', hundred),
    at('v', '1e+2', hundred),
    at('v', '0', zero),
    at('v', '-0.0', zero),
    at('v', '9007199254740991', large),
    at('v', '9007199254740990'),
    at('v', '5e-324', small),
    at('v', '1.23e47', longest),
  ],
  'no number in a notation that JSON does not allow': [
    ...['+1.5', ' 1.5', '1.5 ', '01.5', '.5', '1.', '0x64', '1e', '1_00', 'NaN', 'Infinity', '-Infinity'],
    ...['1e400', '-1e400', '1e-400', '1.5f', '١'],
  ].map((value) => at('v', value, ...(value === '1e-400' ? [zero] : []))),
  'a boolean': [
    at('v', 'true', yes, spelled),
    at('v', 'false', no),
    at('v', 'True'),
    at('v', 't'),
    at('v', '1'),
  ],
  'no null, object or array': [
    at('v', 'null', nullText),
    at('v', '{}'),
    at('v', '[object Object]'),
    at('v', 'gold,1.5,[object Object]'),
    at('v', '["gold",1.5,{"0":"in an array"}]'),
    at([], 'gold'),
    at([], '{}'),
  ],
  'a nested value': [
    at(['a', 'b', 'c'], 'deep', nested),
    at(['a', 'b'], 'deep'),
    at(['a', 'b', 'c', 'd'], 'deep'),
    at(['b', 'c'], 'deep'),
    at(['v', 'x'], 'gold'),
    at(['v', 'length'], '4'),
  ],
  'keys with dots, quotes and other special characters': [
    at('a.b', 'dots', dots),
    at(['a', 'b.c'], 'deep dots', dots),
    at('a.b.c', 'deep'),
    at('"', '1', odd),
    at("'", '2', odd),
    at('\\', '3', odd),
    at('', '4', odd),
    at('$.v', '5', odd),
    at('{a,b}', '6', odd),
    at('é', '7', odd),
    at('e\u0301', '7'),
    at('😀', '8', odd),
    at('%', '9', odd),
    at('0', '10', odd),
    at('NULL', '11', odd),
    at('a,b', '12', odd),
    at('V', 'gold'),
  ],
  'own properties with names of built-in ones': [
    at('constructor', 'gold', proto),
    at(['__proto__', 'toString'], 'own', proto),
    at(['__proto__', 'n'], '1', proto),
    at('toString', 'gold', shadowed),
    at(['v', 'hasOwnProperty'], 'gold', shadowed),
    at(['constructor', 'name'], 'Object'),
    at(['__proto__', 'constructor', 'name'], 'Object'),
  ],
  'no element of an array': [
    at(['v', '0'], 'gold', numbered),
    at(['v', '-1'], 'gold', numbered),
    at(['v', '1'], '1.5', numbered),
    at(['v', '2', '0'], 'in an array'),
    at(['v', 'length'], '3'),
  ],
}

/** Tests the search for user groups by a property. */
export function describeProperties(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: searching user groups by a property`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
      for (const properties of all)
        await getOrCreate(
          store,
          { ...own.tenantScope, providedId: properties },
          { change: { name: 'A', properties } },
        )
      await getOrCreate(store, { ...own.tenantScope, providedId: 'without' })
    })
    after(() => store.close())

    for (const [title, cases] of Object.entries(questions)) {
      it(`finds ${title}`, async () => {
        for (const { path, value, has } of cases) {
          const found = await searchAll(store, own, { property: { path, value } }, 10)
          assert.deepEqual(
            found.map(({ providedId }) => providedId),
            all.filter((properties) => has.includes(properties)),
            JSON.stringify([path, value]),
          )
        }
      })
    }
  })
}

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  faultsOfNarrowing,
  issuedNarrowing,
  narrowed,
  type Narrowing,
} from '../../../../src/domain/viewer-session/viewer-session.ts'
import type { ActiveUserGroup } from '../../../../src/domain/user-group/user-group-store.ts'
import { cases } from '../../../support/cases.ts'

const scalar = fc.oneof(
  fc.constantFrom('EU', 'US', '', '1', 'true', 1, 0, -0, 1.5, true, false, null),
  fc.string({ maxLength: 3 }),
  fc.integer(),
)
const name = fc.constantFrom('regions', 'plan', '__proto__', 'constructor', '1', 'ä')
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 4 }), fc.constant({ a: 1 }), fc.constant([[1]]))
const properties = fc.option(fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key }))
const mapping = fc.option(
  fc.uniqueArray(fc.tuple(name, fc.constantFrom('1', '2')), { selector: ([key]) => key }),
)

type Entries = readonly (readonly [string, unknown])[]

const textOf = (entries: Entries | null) =>
  entries && `{${entries.map(([key, of]) => `${JSON.stringify(key)}:${JSON.stringify(of)}`).join()}}`

function groupOf(ofProperties: Entries | null, ofMapping: Entries | null): ActiveUserGroup {
  const userGroup = { properties: textOf(ofProperties), mapping: textOf(ofMapping) }
  const dataSources = (ofMapping ?? []).map(([schemaKey]) => ({ schemaKey }))
  return {
    userGroup,
    state: { location: { bucket: 0, teamId: 1 }, stamp: '' },
    dataSources,
  } as unknown as ActiveUserGroup
}

const listOf = (of: unknown): readonly unknown[] => (Array.isArray(of) ? of : [of])
const keys = (of: readonly unknown[]) => of.map((element) => JSON.stringify(element))
const parsed = (text: string | null) => JSON.parse(text ?? '{}') as Record<string, unknown>

test('a session never has a value that the user group lacks, or that it was not created for', () => {
  const numRuns = cases(1000)
  let accepted = 0
  fc.assert(
    fc.property(
      properties,
      mapping,
      properties,
      mapping,
      fc.infiniteStream(fc.nat()),
      (atFirst, mappedAtFirst, later, mappedLater, numbers) => {
        const first = groupOf(atFirst, mappedAtFirst).userGroup
        const some = <Value>(values: readonly Value[]) => values.filter(() => numbers.next().value % 2 === 0)
        const narrow: Narrowing = {
          properties: Object.fromEntries(some(atFirst ?? []).map(([key, of]) => [key, some(listOf(of))])),
          schemas: some(mappedAtFirst ?? []).map(([key]) => key),
        }
        if (faultsOfNarrowing(narrow, first).length > 0) return
        accepted++
        const group = groupOf(later, mappedLater)
        const shown = narrowed(issuedNarrowing(narrow, first), group)
        const now = parsed(group.userGroup.properties)
        const result = parsed(shown.userGroup.properties)
        for (const [key, of] of Object.entries(result)) {
          const allowed = Object.hasOwn(narrow.properties ?? {}, key) ? narrow.properties?.[key] : undefined
          if (allowed === undefined) assert.deepEqual(of, now[key])
          else {
            const lists = [keys(listOf(Object.hasOwn(now, key) ? now[key] : [])), keys(allowed)]
            for (const element of keys(listOf(of)))
              for (const list of lists) assert.ok(list.includes(element))
          }
        }
        const schemas = Object.entries(parsed(shown.userGroup.mapping))
        for (const [key, of] of schemas)
          assert.ok(narrow.schemas?.includes(key) && parsed(group.userGroup.mapping)[key] === of)
        assert.deepEqual(
          shown.dataSources.map(({ schemaKey }) => schemaKey).toSorted(),
          schemas.map(([key]) => key).toSorted(),
        )
      },
    ),
    { numRuns },
  )
  assert.ok(accepted > numRuns / 10, `${accepted} narrowings were accepted`)
})

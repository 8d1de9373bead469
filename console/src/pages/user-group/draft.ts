import { invalidInput, type FieldFault } from '../../api/errors.ts'
import { JsonText } from '../../api/request.ts'
import type { Mapping } from '../../api/wire.ts'
import { differencesOf } from '../../components/diff.ts'
import { contentOf, type Content } from './changes.ts'

export interface Row {
  /** Identifies rows while they are edited. */
  readonly id: number
  readonly schema: string
  readonly dataSource: string
}

/** Name, mapping and properties as the form has them. */
export interface Draft {
  readonly name: string
  readonly rows: readonly Row[]
  readonly properties: string
}

let lastId = 0

export const newRow = (schema = '', dataSource = ''): Row => ({ id: ++lastId, schema, dataSource })

export function draftOf({ name, mapping, properties }: Content): Draft {
  const rows = Object.entries(mapping ?? {}).map(([schema, dataSource]) => newRow(schema, dataSource))
  return { name, rows, properties: properties === null ? '' : JSON.stringify(properties, null, 2) }
}

/** @throws ApiError if the draft cannot be sent to the service */
export function assertSendable({ rows, properties }: Draft): void {
  const keys = filled(rows).map(({ schema }) => schema)
  const twice = keys.filter((key, i) => keys.indexOf(key) !== i)
  const faults = [
    ...[...new Set(twice)].map((key) => ({
      path: pointerOf(key),
      message: 'is listed twice; a schema has one data source',
    })),
    ...syntaxFaults(properties),
  ]
  if (faults.length > 0) throw invalidInput(faults)
}

function syntaxFaults(text: string): FieldFault[] {
  if (text.trim() === '') return []
  try {
    JSON.parse(text)
    return []
  } catch (error) {
    return [{ path: '/properties', message: `is no JSON: ${error instanceof Error ? error.message : ''}` }]
  }
}

export const pointerOf = (schema: string): string =>
  `/mapping/${schema.replaceAll('~', '~0').replaceAll('/', '~1')}`

const filled = (rows: readonly Row[]) =>
  rows.filter(({ schema, dataSource }) => schema !== '' || dataSource !== '')

function mappingOf(rows: readonly Row[]): Mapping {
  const entries = filled(rows).map(({ schema, dataSource }) => [schema, dataSource] as const)
  return entries.length === 0 ? null : Object.fromEntries(entries)
}

/** Parses the text of the properties. Undefined if it is not JSON. */
function valueOf(text: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the changed fields. */
function changedParts(draft: Draft, base: Content) {
  const mapping = mappingOf(draft.rows)
  return {
    name: draft.name !== base.name,
    mapping: differencesOf(mapping ?? {}, base.mapping ?? {}).length > 0,
    properties: differencesOf(valueOf(draft.properties), base.properties).length > 0,
  }
}

export const isChanged = (draft: Draft, base: Content): boolean =>
  Object.values(changedParts(draft, base)).some(Boolean)

/** Returns the PATCH body: changed fields only, properties as written. */
export function patchOf(draft: Draft, base: Content): JsonText {
  const changed = changedParts(draft, base)
  const members = [
    changed.name && `"name":${JSON.stringify(draft.name)}`,
    changed.mapping && `"mapping":${JSON.stringify(mappingOf(draft.rows))}`,
    changed.properties && `"properties":${draft.properties.trim() || 'null'}`,
  ]
  return new JsonText(`{${members.filter((member) => member !== false).join(',')}}`)
}

/** Returns the body that creates a user group. */
export function creationOf(id: string, draft: Draft): JsonText {
  const properties = draft.properties.trim() || 'null'
  const fields = { user_group_id: id, name: draft.name, mapping: mappingOf(draft.rows) }
  return new JsonText(`${JSON.stringify(fields).slice(0, -1)},"properties":${properties}}`)
}

/** Rebases a draft on a newer state: untouched fields take the newer values. */
export function rebased(draft: Draft, base: Content, latest: Content): Draft {
  const changed = changedParts(draft, base)
  const theirs = draftOf(contentOf(latest))
  return {
    name: changed.name ? draft.name : theirs.name,
    rows: changed.mapping ? draft.rows : theirs.rows,
    properties: changed.properties ? draft.properties : theirs.properties,
  }
}

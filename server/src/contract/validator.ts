import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { validationFailed, type FieldFault } from '../domain/fault.ts'
import { shownPointer, stepsOfPointer } from '../domain/json/json-pointer.ts'
import { limits } from './limits.ts'
import {
  date,
  month,
  pointer,
  sha256,
  timestamp,
  upToThirty,
  visible,
  visibleText,
  wholeNumber,
  wholeNumbers,
  withoutControlCharacters,
  withoutNul,
} from './patterns.ts'

// Validation changes no values: no coercion, no defaults, no removed members. `strict` refuses schemas with errors.
const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  strict: true,
  strictTypes: false,
  verbose: true,
})
// The longest text has two code units per character. A longer one is refused for its length.
ajv.addFormat(visible, (text: string) => visibleText.test(text.slice(0, 2 * limits.textLength)))
// A pattern checks it.
ajv.addFormat('date-time', true)

/**
 * Checks a value.
 * @param others problems that were found outside the schema
 * @throws Fault `validation_failed` that lists all invalid fields
 */
export type Validator<T> = (value: unknown, others?: readonly FieldFault[]) => asserts value is T

/** Returns a validator that compiles its schema at the first use. Compiling all schemas takes a tenth of the start-up time. */
export function compileValidator<T extends TSchema>(schema: T): Validator<Static<T>> {
  let validate: ValidateFunction | undefined
  return (value, others = []) => {
    validate ??= ajv.compile(schema)
    const isValid = validate(value)
    if (!isValid || others.length > 0) throw validationFailed(fieldFaults(validate.errors ?? [], others))
  }
}

/** Returns the first problem of each field. */
function fieldFaults(errors: readonly ErrorObject[], others: readonly FieldFault[]): FieldFault[] {
  const byPath = new Map<string, FieldFault>()
  for (const error of errors) {
    // `propertyNames` repeats the error of the name itself.
    if (error.keyword === 'propertyNames') continue
    const path = pathOf(error)
    if (!byPath.has(path)) byPath.set(path, { path, message: messageOf(error) })
    if (byPath.size === limits.fieldFaults) break
  }
  for (const fault of others) if (!byPath.has(fault.path)) byPath.set(fault.path, fault)
  return [...byPath.values()].slice(0, limits.fieldFaults)
}

function pathOf({ instancePath, keyword, params, propertyName }: ErrorObject): string {
  if (keyword === 'required') return instancePath + shownPointer([params.missingProperty as string])
  if (keyword === 'additionalProperties')
    return instancePath + shownPointer([params.additionalProperty as string])
  if (propertyName !== undefined) return instancePath + shownPointer([propertyName])
  return shownPointer(stepsOfPointer(instancePath))
}

function messageOf(error: ErrorObject): string {
  const params = error.params as Record<string, unknown>
  const schema = error.parentSchema as Record<string, number>
  const subject = error.propertyName === undefined ? '' : 'its key '
  switch (error.keyword) {
    case 'type':
      return `must be ${typeNames(params.type)}`
    case 'required':
      return 'is required'
    case 'additionalProperties':
      return 'is not a known field'
    case 'minLength':
    case 'maxLength':
      return `${subject}must have ${schema.minLength} to ${schema.maxLength} characters`
    case 'pattern':
      return subject + patternMessages[params.pattern as keyof typeof patternMessages]
    case 'format':
      return 'must have a visible character'
    case 'minimum':
    case 'maximum':
      return `must be from ${schema.minimum} to ${schema.maximum}`
    case 'maxProperties':
      return `must have at most ${schema.maxProperties} entries`
    case 'minItems':
    case 'maxItems':
      return `must have ${schema.minItems ?? 0} to ${schema.maxItems} entries`
    case 'uniqueItems':
      return 'must not have duplicate entries'
    case 'const':
    case 'enum':
      return `must be ${[params.allowedValues ?? params.allowedValue].flat().map(String).join(' or ')}`
    default:
      return 'is not valid'
  }
}

const patternMessages = {
  [withoutControlCharacters]: 'must not have control characters (U+0000 to U+001F, U+007F to U+009F)',
  [withoutNul]: 'must not have U+0000',
  [wholeNumber]: 'must be a positive whole number',
  [wholeNumbers]: 'must be up to 200 positive whole numbers, separated by commas',
  [month]: 'must be a month, such as 2026-11',
  [date]: 'must be a day, such as 2026-11-28',
  [upToThirty]: 'must be a whole number from 1 to 30',
  [timestamp]: 'must be a time, such as 2026-11-21T20:15:53Z',
  [sha256]: 'must be a SHA-256, as 64 hex digits',
  [pointer]: 'must be a JSON Pointer, such as /plan',
}

function typeNames(type: unknown): string {
  return [type]
    .flat()
    .map((name) =>
      name === 'null' ? 'null' : `${/^[aeio]/.test(String(name)) ? 'an' : 'a'} ${String(name)}`,
    )
    .join(' or ')
}

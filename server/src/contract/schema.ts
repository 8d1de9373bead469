import { Type, type TProperties, type TSchema, type TSchemaOptions } from 'typebox'

/** Schema of one of some texts. It has a type, which OpenAPI generators need. */
export const textEnum = <T extends string>(values: readonly T[], options: TSchemaOptions = {}) =>
  Type.Enum([...values], { type: 'string', ...options })

/** Schema of an object with these members and no others. */
export const object = <T extends TProperties>(members: T, description?: string) =>
  Type.Object(members, { additionalProperties: false, ...(description !== undefined && { description }) })

const success = Type.Literal(1, { description: '1: the request succeeded.' })

/** Schema of the body of a successful response. */
export const response = <T extends TProperties>(members: T, description?: string) =>
  object({ success, ...members }, description)

export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

/** Schema of an optional duration. */
export const seconds = (
  description: string,
  { minimum = 0, maximum, example }: { minimum?: number; maximum: number; example: number },
) => Type.Optional(Type.Integer({ description, minimum, maximum, examples: [example] }))

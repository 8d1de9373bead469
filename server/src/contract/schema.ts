import { Type, type TSchema, type TSchemaOptions } from 'typebox'

/** Schema of one of some texts. It has a type, which OpenAPI generators need. */
export const textEnum = <T extends string>(values: readonly T[], options: TSchemaOptions = {}) =>
  Type.Enum([...values], { type: 'string', ...options })

/** Schema of an object with these members and no others. */
export const object = <T extends Parameters<typeof Type.Object>[0]>(members: T, description?: string) =>
  Type.Object(members, { additionalProperties: false, ...(description !== undefined && { description }) })

export const orNull = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description })

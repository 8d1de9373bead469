import { Type, type TSchemaOptions } from 'typebox'

/** Schema of one of some texts. It has a type, which OpenAPI generators need. */
export const textEnum = <T extends string>(values: readonly T[], options: TSchemaOptions = {}) =>
  Type.Enum([...values], { type: 'string', ...options })

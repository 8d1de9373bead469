/** Parameters of a link to register a schema, or a data source if `data_source` is present. */
export interface Link {
  readonly schema?: string
  readonly data_source?: string
}

export function readLink({ schema, data_source }: Record<string, unknown>): Link {
  return {
    ...(typeof schema === 'string' && { schema }),
    ...(typeof data_source === 'string' && { data_source }),
  }
}

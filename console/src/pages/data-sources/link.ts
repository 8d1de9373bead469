/** What another page leads here to register: a schema, or where `data_source` is there that. */
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

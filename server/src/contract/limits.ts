/** The limits on input (contract, "Input"). Lengths are in characters (Unicode code points), sizes in bytes of UTF-8. */
export const limits = {
  bodyBytes: 1024 * 1024,
  textLength: 255,
  mappingEntries: 1000,
  propertiesBytes: 64 * 1024,
  propertiesDepth: 32,
  gracePeriodSeconds: 604_800,
  idempotencyKeyLength: 255,
  /** A body may have a great many faults; this many are told. */
  fieldFaults: 100,
} as const

/** Limits on input (contract, "Input"). Lengths are in Unicode code points, sizes in bytes of UTF-8. */
export const limits = {
  bodyBytes: 1024 * 1024,
  textLength: 255,
  mappingEntries: 1000,
  propertiesBytes: 64 * 1024,
  propertiesDepth: 32,
  gracePeriodSeconds: 604_800,
  idempotencyKeyLength: 255,
  /** Ids are numbers that JSON writes exactly. */
  id: Number.MAX_SAFE_INTEGER,
  /** Maximum number of invalid fields that an error lists. */
  fieldFaults: 100,
} as const

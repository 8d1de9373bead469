import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * Returns random bytes of the operating system's generator, for secrets. Reads the generator in blocks, because one call costs more
 * than the rest of issuing a token. Bytes are erased from the block when they are returned.
 */
export function randomBytes(length: number): Buffer {
  if (length > pool.length - used) {
    randomFillSync(pool)
    used = 0
  }
  const bytes = Buffer.from(pool.subarray(used, used + length))
  pool.fill(0, used, (used += length))
  return bytes
}

import { randomFillSync } from 'node:crypto'

const pool = Buffer.alloc(4096)
let used = pool.length

/**
 * Random bytes of the operating system's generator, for secrets. They are drawn many at a time, since a draw costs more
 * than all else that making a token takes; none is kept once it was given out.
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

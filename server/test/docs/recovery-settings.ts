import { readBlocks } from './blocks.ts'

/** Returns the lines of `postgresql.conf` in docs/operations.md with which a server restores an archive up to a target. */
export function recoverySettings(archive: string, target: string): string {
  const [, restore] = readBlocks('docs/operations.md', 'PostgreSQL, to a point in time', 2)
  return restore.replaceAll('ARCHIVE', archive).replace(/^recovery_target_time = .*$/m, target)
}

import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Fault } from '../../../domain/fault.ts'
import { errorCodeOf } from '../../../domain/util/error-code.ts'

/** Number of characters collected before a write. */
const writeLength = 65_536

/**
 * Collects texts in a temporary file and returns a stream of it. Most clients read the response only after they sent the whole
 * request, so a response that is streamed earlier would block; in memory it could be too large.
 * @throws Fault `unavailable` if the system's temporary folder is not writable; and the errors of `texts`
 */
export async function spool(texts: AsyncIterable<string>): Promise<Readable> {
  const file = await guarded(openUnlinked())
  try {
    let collected = ''
    for await (const text of texts) {
      collected += text
      if (collected.length < writeLength) continue
      await guarded(file.appendFile(collected))
      collected = ''
    }
    await guarded(file.appendFile(collected))
    return file.createReadStream({ start: 0 })
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Opens a file without a name. The system removes it when it is closed, even if the process is killed. */
async function openUnlinked(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'ugs-'))
  try {
    return await open(join(folder, 'results'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function guarded<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const reason = errorCodeOf(error)
    throw new Fault('unavailable', 'The temporary folder of the service cannot be written', {
      ...(reason !== undefined && { reason }),
    })
  }
}

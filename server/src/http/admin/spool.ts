import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Fault } from '../../domain/fault.ts'
import { errorCodeOf } from '../../domain/util/error-code.ts'

/** How much is gathered before it is written. */
const writeLength = 65_536

/**
 * Keeps a text on the disk until its end, and then has it read. A client that reads no answer before it has sent its whole
 * request, as most do, would wait for ever if it were sent as it came, and in memory there is no room for it.
 * @throws Fault `unavailable` where the system's temporary folder cannot take it; and what `texts` throws
 */
export async function spool(texts: AsyncIterable<string>): Promise<Readable> {
  const file = await guarded(openUnnamed())
  try {
    let gathered = ''
    for await (const text of texts) {
      gathered += text
      if (gathered.length < writeLength) continue
      await guarded(file.appendFile(gathered))
      gathered = ''
    }
    await guarded(file.appendFile(gathered))
    return file.createReadStream({ start: 0 })
  } catch (error) {
    await file.close()
    throw error
  }
}

/** A file that no folder lists: it is gone once it is closed, however the process ends. */
async function openUnnamed(): Promise<FileHandle> {
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

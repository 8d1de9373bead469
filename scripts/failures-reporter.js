// A reporter for Node's test runner that tells the failed tests alone, so that they can stand at the end of a long output.
import { relative } from 'node:path'
import { inspect } from 'node:util'

/** @param {AsyncIterable<import('node:test/reporters').TestEvent>} events */
export default async function* failures(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:fail') continue
    const { error } = data.details
    // A test whose subtests failed has nothing to tell that they have not told.
    if ('failureType' in error && error.failureType === 'subtestsFailed') continue
    yield `\n✖ ${data.name} (${relative('', data.file ?? '')}:${data.line})\n${inspect(error.cause)}\n`
  }
}

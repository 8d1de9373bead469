// Starts the example and prints the page to open: `npm start --workspace examples/dashboard`. Ctrl-C ends it.
import { once } from 'node:events'
import { startExample } from './example.js'

// From here on a signal stops the example in good order, even one that comes while it starts.
const stopping = new AbortController()
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort())

try {
  const example = await startExample({
    hostPort: portOf('PORT'),
    rendererPort: portOf('RENDERER_PORT'),
    servicePort: portOf('SERVICE_PORT'),
  })
  console.log(`
Open  ${example.hostOrigin}

Behind it, the renderer listens on ${example.rendererOrigin} and the User Group Service on ${example.serviceOrigin}.
Ctrl-C ends all three, and removes what they kept.
`)
  try {
    if (!stopping.signal.aborted) await Promise.race([once(stopping.signal, 'abort'), example.failed])
  } finally {
    await example.stop()
  }
} catch (error) {
  // Ctrl-C reaches all processes at once: that one of them is gone while they start is no failure then.
  if (!stopping.signal.aborted) {
    console.error(`The example has failed: ${error instanceof Error ? error.message : 'unknown'}`)
    process.exitCode = 1
  }
}

/**
 * @param {string} name a setting; unset, a free port is picked
 * @returns {number}
 */
function portOf(name) {
  const port = Number(process.env[name] ?? '0')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`${name} must be a whole number from 0 to 65535`)
  }
  return port
}

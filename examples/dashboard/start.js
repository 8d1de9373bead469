// Starts the example and prints the page to open: `npm start --workspace examples/dashboard`. Press Ctrl-C to stop it.
import { once } from 'node:events'
import { startExample } from './example.js'

// From here on, a signal stops the example in order, even during its start.
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
Press Ctrl-C to stop all three and delete their data.
`)
  try {
    if (!stopping.signal.aborted) await Promise.race([once(stopping.signal, 'abort'), example.failed])
  } finally {
    await example.stop()
  }
} catch (error) {
  // Ctrl-C reaches all processes at once, so a process that ends during the start is not a failure then.
  if (!stopping.signal.aborted) {
    console.error(`The example failed: ${error instanceof Error ? error.message : 'unknown'}`)
    process.exitCode = 1
  }
}

/**
 * @param {string} name environment variable; a free port if unset
 * @returns {number}
 */
function portOf(name) {
  const port = Number(process.env[name] ?? '0')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`${name} must be an integer from 0 to 65535`)
  }
  return port
}

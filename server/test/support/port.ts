import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'

/** Returns a free port, for programs that cannot choose one. */
export function freePort(): Promise<number> {
  return tryPort(0)
}

/**
 * Returns a free port for a server that starts later or more than once. Linux uses other ports, from 32768, for outgoing connections,
 * so that none of these takes the port while the server is down.
 */
export async function freeServerPort(): Promise<number> {
  for (;;) {
    try {
      return await tryPort(randomInt(20_000, 32_768))
    } catch {
      // Another program listens on this port.
    }
  }
}

async function tryPort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Returns true if a program listens on the port. */
export async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

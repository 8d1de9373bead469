import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Scope } from '../../../server/test/support/scope.ts'

/** Behavior of a connection. */
export type Fate =
  /** Forwards everything. */
  | 'passes'
  /** Resets the connection at once. */
  | 'is reset'
  /** Drops the request and closes the connection. */
  | 'loses the request'
  /** Forwards the request, drops the response and closes the connection. */
  | 'loses the response'
  /** Closes the connection in the middle of the response. */
  | 'loses half of the response'
  /** Closes it in the name of the last header, which no longer looks like HTTP. */
  | 'loses all after half of a header name'

export interface FlakyNetwork {
  readonly origin: string
  /** Number of accepted connections. */
  readonly connections: () => number
}

/** Starts a TCP proxy. The nth connection has the nth fate; further ones pass. */
export async function startFlakyNetwork(
  t: Scope,
  target: string,
  ...fates: readonly Fate[]
): Promise<FlakyNetwork> {
  const { port } = new URL(target)
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer((client) => {
    const fate = fates[connections++] ?? 'passes'
    sockets.add(client)
    client.on('error', () => undefined)
    if (fate === 'is reset') client.resetAndDestroy()
    else if (fate === 'loses the request') client.once('data', () => client.destroy())
    else link(client, connect(Number(port), '127.0.0.1'), fate)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections,
  }
}

function link(client: Socket, service: Socket, fate: Fate): void {
  client.pipe(service)
  client.on('close', () => service.destroy())
  service.on('error', () => undefined)
  service.on('close', () => client.destroy())
  service.on('data', (bytes: Buffer) => {
    if (fate === 'passes') client.write(bytes)
    else if (fate === 'loses the response') client.destroy()
    else if (fate === 'loses half of the response') client.end(bytes.subarray(0, bytes.length / 2))
    else client.end(bytes.subarray(0, bytes.lastIndexOf('\r\n', bytes.indexOf('\r\n\r\n') - 1) + 5))
  })
}

// Baseline: the least work for a request with a body in `node:http`. It discards the body and sends a fixed response of the
// service's length.
import { createServer } from 'node:http'

const body = JSON.stringify({
  success: 1,
  new_user_group: false,
  user_group: {
    team_id: 1_000_000,
    token: 'ugt_testing_2pFIDIsczoxQAYmZZ5jyInGdsK9wHC7ZbCAnfvESKYrX2VnNbX',
    name: 'Example customer',
    provided_id: '1000000',
    properties: { region: 'EU', plan: 'gold', seats: 25, currency: 'EUR', features: ['export', 'alerts'] },
  },
})
const head = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, head).end(body))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`The echo listens on http://127.0.0.1:${port}`)
})
process.once('SIGTERM', () => {
  server.close()
  server.closeAllConnections()
})

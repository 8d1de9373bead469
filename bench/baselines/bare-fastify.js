// A GET with a body in Fastify as it comes: same request and response schemas as the service, no authentication, no
// strict JSON, no store. What the service is measured against. With `--together` all answers that became ready in a turn
// of the event loop are sent by one callback, which costs the kernel and the loop less where many are.
import Fastify from 'fastify'
import { GetOrCreateResponse, UserGroupBody } from '../../server/dist/contract/user/schemas.js'

const token = 'ugt_testing_3mJr7AoUXx2Wqd9tYv5KLpZ8nGcBhE4s0PQRfy'

// Fastify would answer `properties` empty where the schema does not say that there is anything in them.
const { user_group } = GetOrCreateResponse.properties
const properties = { ...user_group.properties.properties, additionalProperties: true }
const Answer = {
  ...GetOrCreateResponse,
  properties: {
    ...GetOrCreateResponse.properties,
    user_group: { ...user_group, properties: { ...user_group.properties, properties } },
  },
}

/** @type {(() => void)[]} */
let ready = []
const sendReady = () => {
  const sends = ready
  ready = []
  for (const send of sends) send()
}

/** @type {(send: () => void) => void} */
const together = (send) => {
  if (ready.push(send) === 1) setImmediate(sendReady)
}
const answer = process.argv.includes('--together')
  ? together
  : (/** @type {() => void} */ send) => {
      send()
    }

const app = Fastify({ exposeHeadRoutes: false })
app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
app.route({
  method: 'GET',
  url: '/api/user',
  schema: { body: UserGroupBody, response: { 200: Answer } },
  handler: (request, reply) => {
    const { user_group_id, name, properties } = /** @type {UserGroupBody} */ (request.body)
    answer(() => {
      void reply.send({
        success: 1,
        new_user_group: false,
        user_group: { team_id: 1, token, name, provided_id: user_group_id, properties: properties ?? null },
      })
    })
  },
})
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`The bare route listens on ${origin}`)
process.once('SIGTERM', () => void app.close())

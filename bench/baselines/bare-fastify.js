// Baseline: a GET with a body in plain Fastify, with the service's request and response schemas but without authentication,
// strict JSON and a store. With `--together` one callback sends all responses of an event-loop iteration, which costs less CPU
// under load.
import Fastify from 'fastify'
import { visible, visibleText } from '../../server/dist/contract/patterns.js'
import { GetOrCreateResponse, UserGroupBody } from '../../server/dist/contract/user/schemas.js'

const token = 'ugt_testing_2pFIDIsczoxQAYmZZ5jyInGdsK9wHC7ZbCAnfvESKYrX2VnNbX'

// Without `additionalProperties` Fastify would serialize `properties` as an empty object.
const { user_group } = GetOrCreateResponse.properties
const properties = { ...user_group.properties.properties, additionalProperties: true }
const ResponseSchema = {
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
const respond = process.argv.includes('--together')
  ? together
  : (/** @type {() => void} */ send) => {
      send()
    }

const app = Fastify({
  exposeHeadRoutes: false,
  ajv: { customOptions: { formats: { [visible]: visibleText } } },
})
app.addHttpMethod('GET', { hasBody: true, overrideExisting: true })
app.route({
  method: 'GET',
  url: '/api/user',
  schema: { body: UserGroupBody, response: { 200: ResponseSchema } },
  handler: (request, reply) => {
    const { user_group_id, name, properties } = /** @type {UserGroupBody} */ (request.body)
    respond(() => {
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

// Baseline: a GET with a body in plain Fastify, with the service's request and response schemas but without authentication,
// strict JSON and a store. With `--together` one callback sends all responses of an event-loop iteration, which costs less CPU
// under load. With `--store=LOCATION`, each request creates a user group there.
import Fastify from 'fastify'
import { visible, visibleText } from '../../server/dist/contract/patterns.js'
import { GetOrCreateResponse, UserGroupBody } from '../../server/dist/contract/user/schemas.js'
import { openBareStore } from '../lib/bare-store.js'

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

/** @typedef {import('../lib/bare-store.js').Creation} Creation */

/** @type {(creation: Creation) => void} */
const together = ({ respond }) => {
  if (ready.push(respond) === 1) setImmediate(sendReady)
}

/** @returns {(creation: Creation) => void} */
function handlerOf() {
  if (isNew) return openBareStore(option.slice('--store='.length))
  return option === '--together' ? together : ({ respond }) => respond()
}
const [option = ''] = process.argv.slice(2)
const isNew = option.startsWith('--store=')
const handle = handlerOf()

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
    const body = /** @type {UserGroupBody} */ (request.body)
    const { user_group_id, name, properties } = body
    const respond = () => {
      void reply.send({
        success: 1,
        new_user_group: isNew,
        user_group: { team_id: 1, token, name, provided_id: user_group_id, properties: properties ?? null },
      })
    }
    handle({ body, respond })
  },
})
const origin = await app.listen({ host: '127.0.0.1', port: 0 })
console.log(`The bare route listens on ${origin}`)
process.once('SIGTERM', () => void app.close())

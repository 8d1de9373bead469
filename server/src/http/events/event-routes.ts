import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { compileValidator } from '../../contract/validator.ts'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import { isEventPosition, type EventPosition } from '../../domain/event/event.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { PositionedEvent } from '../../domain/event/event-store.ts'
import { Fault } from '../../domain/fault.ts'
import { FairPool } from '../../domain/util/fair-pool.ts'
import type { Clock } from '../../domain/util/clock.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { authorize } from '../authorization.ts'
import { queryOf } from '../query.ts'
import { contextOf } from '../request-context.ts'
import { sendJson } from '../response.ts'
import { pollEvents } from './long-poll.ts'
import { eventQuery, type EventRequest } from './event-request.ts'
import { streamEvents } from './event-stream.ts'

export interface EventRoutesDependencies {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  readonly feed: EventFeed
  readonly clock: Pick<Clock, 'monotonic'>
  /** Maximum number of streams and long polls of this process. */
  readonly maxConnections: number
}

/** Adds `GET /events`, which notifies renderers of changes to tokens (contract, "Events"). */
export function addEventRoutes(app: FastifyInstance, dependencies: EventRoutesDependencies): void {
  const { feed, rateLimiter, maxConnections } = dependencies
  const connections = new FairPool(maxConnections)
  const authentication = new Authentication(['Token'], dependencies.authentication)
  const checks = new TokenChecks(authentication)
  const validate = compileValidator(eventQuery)
  app.route({
    method: 'GET',
    url: '/events',
    config: { challenge: authentication.challenge },
    handler: async (request, reply) => {
      const context = contextOf(request.raw)
      const { authorization } = request.raw.headers
      const apiToken = await context.permit.during(() => authentication.authenticate(authorization))
      authorize(context, reply, { principal: apiToken, operation: 'readEvents' }, rateLimiter)
      const { after, wait } = queryOf(request.raw, validate) as Static<typeof eventQuery>
      const eventRequest = {
        apiToken,
        after: positionOf(request, after),
        isVisible: visibilityOf(apiToken),
        faultOfToken: (afterRevocation: boolean) => checks.faultOf(authorization, afterRevocation),
      }
      await feed.checkReadable()
      if (request.raw.socket.destroyed) throw new Fault('unavailable', 'The client has left')
      if (connections.isFull)
        throw new Fault(
          'unavailable',
          'This process has no room for another event connection. Retry in a moment',
        )
      const share = connections.shareOf(apiToken.workspaceId)
      if (!share.take())
        throw new Fault(
          'unavailable',
          'This workspace has too many event connections to this process. Close some, or raise UGS_MAX_EVENT_CONNECTIONS',
        )
      reply.raw.once('close', () => share.release())
      if (wait !== undefined)
        return sendJson(reply, 200, await pollEvents(feed, eventRequest, request.raw, Number(wait)))
      startStream(request, reply, eventRequest)
      return reply
    },
  })

  function startStream(request: FastifyRequest, reply: FastifyReply, eventRequest: EventRequest): void {
    reply.hijack()
    const { clock } = dependencies
    streamEvents(feed, eventRequest, contextOf(request.raw), { headers: reply.getHeaders(), clock })
  }
}

/** Checks the API tokens of connections. Connections with the same one share a check. */
class TokenChecks {
  readonly #authentication: Authentication
  readonly #running = new Map<string, Promise<Fault | null>>()

  constructor(authentication: Authentication) {
    this.#authentication = authentication
  }

  faultOf(authorization = '', afterRevocation: boolean): Promise<Fault | null> {
    const key = `${afterRevocation} ${authorization}`
    const running = this.#running.get(key)
    if (running !== undefined) return running
    if (afterRevocation) this.#authentication.distrust(authorization)
    const check = this.#check(authorization).finally(() => this.#running.delete(key))
    this.#running.set(key, check)
    return check
  }

  async #check(authorization: string): Promise<Fault | null> {
    try {
      await this.#authentication.authenticate(authorization)
      return null
    } catch (error) {
      // While the store is unavailable, the connection waits.
      return error instanceof Fault && error.code === 'unauthenticated' ? error : null
    }
  }
}

/** @throws Fault `invalid_position` */
function positionOf({ headers }: FastifyRequest, after: string | undefined): EventPosition | null {
  const lastEventId = headers['last-event-id']
  const position = typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : after
  if (position === undefined) return null
  if (isEventPosition(position)) return position
  throw new Fault('invalid_position', 'The position is malformed. Connect without Last-Event-ID and after')
}

function visibilityOf({ scopes }: ApiToken): (event: PositionedEvent) => boolean {
  // A renderer knows no token of a user group that was just created.
  return scopes.includes('admin') ? () => true : ({ type }) => type !== 'user_group.created'
}

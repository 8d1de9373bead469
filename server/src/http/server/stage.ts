import type { Server } from 'node:http'
import type { RequestContext } from '../request-context.ts'

/** Passes a request to the next stage. */
export type Next = (context: RequestContext) => void

/** One step of the request pipeline (`http/pipeline.ts`). */
export interface Stage {
  /** Subscribes to connection events, before the server listens. */
  attach?(server: Server): void
  /** Responds to the request, or calls `next`, at once or later. */
  handle?(context: RequestContext, next: Next): void
}

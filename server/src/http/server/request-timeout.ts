import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { contextOf, type RequestContext } from '../request-context.ts'
import type { Next, Stage } from './stage.ts'
import { hasUnreadBody } from './unread-body.ts'

/** Interval of the checks, in milliseconds. */
const intervalMs = 1000

/** Requests whose bodies may take any time, as long as bytes arrive. */
const uploads = new WeakSet<IncomingMessage>()

/** Allows the body of a request any total time. From now on, only its pauses are limited. */
export function extendTimeoutForUpload(request: IncomingMessage): void {
  uploads.add(request)
}

/**
 * Refuses a request whose body does not arrive within `timeoutMs`, or an upload that pauses for that long. Node.js's own
 * `requestTimeout` cannot differ between requests.
 */
export class RequestTimeout implements Stage {
  readonly #timeoutMs: number
  readonly #refuse: (socket: Socket) => void
  /** Requests read in this event-loop iteration. The bodies of most are complete when it ends. */
  #fresh: IncomingMessage[] = []
  readonly #incomplete = new Map<Socket, { request: IncomingMessage; since: number; bytesRead: number }>()

  constructor(timeoutMs: number, refuse: (socket: Socket) => void) {
    this.#timeoutMs = timeoutMs
    this.#refuse = refuse
  }

  attach(server: Server): void {
    const timer = setInterval(this.#check, intervalMs).unref()
    server.once('close', () => clearInterval(timer))
  }

  handle(context: RequestContext, next: Next): void {
    if (hasUnreadBody(context.raw) && this.#fresh.push(context.raw) === 1) setImmediate(this.#keepIncomplete)
    next(context)
  }

  readonly #keepIncomplete = (): void => {
    for (const request of this.#fresh) if (!request.complete) this.#keep(request.socket, request)
    this.#fresh = []
  }

  #keep(socket: Socket, request: IncomingMessage): void {
    this.#incomplete.set(socket, { request, since: performance.now(), bytesRead: socket.bytesRead })
  }

  readonly #check = (): void => {
    const now = performance.now()
    for (const [socket, { request, since, bytesRead }] of this.#incomplete) {
      // Bytes that the service has not read yet are not the client's fault.
      const isMoving = socket.bytesRead > bytesRead || request.readableLength > 0
      if (request.complete || socket.destroyed) this.#incomplete.delete(socket)
      // The body is not used, and too long or too slow to drop.
      else if (contextOf(request).response.writableFinished) socket.destroy()
      else if (uploads.has(request) && isMoving) this.#keep(socket, request)
      else if (now - since > this.#timeoutMs) {
        this.#incomplete.delete(socket)
        this.#refuse(socket)
      }
    }
  }
}

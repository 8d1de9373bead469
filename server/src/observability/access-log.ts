import type { Logger } from 'pino'
import type { RequestObserver, CompletedRequest } from '../http/server/request-observer.ts'
import { createAccessLogger, type AccessLogger } from './logger.ts'

/** Logs a share of all requests, and every request that failed with 5xx. The share can change at run time. */
export class AccessLog implements RequestObserver {
  readonly #log: Pick<Logger, 'warn'>
  readonly #observers: RequestObserver[]
  #writer: AccessLogger | undefined
  #share = 0

  /** @param observers those of the requests, among which the access log is while it is on: observing each request has a cost */
  constructor(log: Pick<Logger, 'warn'>, observers: RequestObserver[]) {
    this.#log = log
    this.#observers = observers
  }

  /** @param share from 0 to 1; undefined for no access log */
  setShare(share: number | undefined): void {
    const index = this.#observers.indexOf(this)
    if (share === undefined) {
      if (index >= 0) this.#observers.splice(index, 1)
      return
    }
    this.#share = share
    this.#writer ??= createAccessLogger(this.#log)
    if (index < 0) this.#observers.push(this)
  }

  end(request: CompletedRequest): void {
    const { status, apiToken, duration } = request
    if (Math.random() >= this.#share && (status ?? 0) < 500) return
    this.#writer?.logger.info(
      {
        request_id: request.requestId,
        method: request.method,
        path: request.path,
        operation: request.operation,
        status,
        code: request.code,
        api_token_id: apiToken?.id ?? null,
        workspace_id: apiToken?.workspaceId ?? null,
        environment: apiToken?.environment ?? null,
        duration_ms: duration === null ? null : Math.round(duration * 1000) / 1000,
        bytes: request.bytes,
        ...(request.isCutOff && { cut_off: true }),
        ...request.traceIds,
      },
      'request',
    )
  }

  /** Writes the buffer and closes the log. */
  async close(): Promise<void> {
    this.setShare(undefined)
    await this.#writer?.close()
  }
}

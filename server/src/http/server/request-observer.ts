import type { IncomingMessage } from 'node:http'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import type { FaultCode } from '../../domain/fault.ts'
import type { Operation } from '../operations.ts'

/** A request whose response has ended. It contains no secrets: no token, user group id or query. */
export interface CompletedRequest {
  readonly requestId: string
  /** Null if the request was refused before its headers were complete. */
  readonly method: string | null
  /** Documented path of the route, with `{name}` for parameters; null if no route matches. */
  readonly path: string | null
  readonly operation: Operation | null
  readonly apiToken: ApiToken | null
  /** Null if the client left before the response. */
  readonly status: number | null
  /** Error code of the response. */
  readonly code: FaultCode | null
  /**
   * Milliseconds from the arrival of the request to the end of its response, or to the beginning of an endless one; null if its
   * headers were refused.
   */
  readonly duration: number | null
  /** Size of the response body; null if unknown. */
  readonly bytes: number | null
  /** True if the connection closed before the whole response was sent. */
  readonly isCutOff: boolean
  /** Set if the request was traced. */
  readonly traceIds: TraceIds | undefined
}

/** Observes requests. Its methods are on the hot path and must not throw. */
export interface RequestObserver {
  /** Reports that a request has arrived; `end` follows. */
  begin?(): void
  /** Reports a completed request. One without a duration had no `begin`. */
  end(request: CompletedRequest): void
}

/** Starts traces of requests. */
export interface RequestTracer {
  /** Returns null if this request is not sampled. */
  begin(request: IncomingMessage): RequestTrace | null
}

export interface RequestTrace {
  readonly ids: TraceIds
  /** Runs `work`, so that spans of the store become children of this request. */
  run(work: () => void): void
  end(request: CompletedRequest): void
}

/** Ids that connect log lines to a trace. */
export interface TraceIds {
  readonly trace_id: string
  readonly span_id: string
}

import type { IncomingMessage } from 'node:http'
import type { CompletedRequest } from './request-lifecycle.ts'

/** Follows calls through the service. */
export interface RequestTracer {
  /** Null where this one is not followed. */
  begin(request: IncomingMessage): RequestTrace | null
}

interface RequestTrace {
  /** What ties a line of the log to the call. */
  readonly ids: TraceIds
  /** Does what belongs to the call, so that the store knows for whom it works. */
  run(work: () => void): void
  end(call: CompletedRequest): void
}

export interface TraceIds {
  readonly trace_id: string
  readonly span_id: string
}

import type { RequestTracer } from './request-observer.ts'
import type { Stage } from './stage.ts'

/** Runs the later stages within the trace of the request. It comes after the queue, which would lose the trace. */
export function traceRequests(tracer: RequestTracer): Stage {
  return {
    handle(context, next) {
      const trace = tracer.begin(context.raw)
      if (trace === null) next(context)
      else {
        context.trace = trace
        trace.run(() => next(context))
      }
    },
  }
}

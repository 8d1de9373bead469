import type { FastifyBaseLogger } from 'fastify'
import type { RequestObserver, CompletedRequest } from '../http/server/request-observer.ts'

/** Logs a line for this share of all calls, from 0 to 1, and for every one that failed on our side. */
export function accessLog({ logger, share }: { logger: Pick<FastifyBaseLogger, 'info'>; share: number }): RequestObserver {
  const end = (call: CompletedRequest) => {
    const { status, apiToken, duration } = call
    if (Math.random() >= share && (status ?? 0) < 500) return
    logger.info(
      {
        request_id: call.requestId,
        method: call.method,
        path: call.path,
        operation: call.operation,
        status,
        code: call.code,
        api_token_id: apiToken?.id ?? null,
        workspace_id: apiToken?.workspaceId ?? null,
        environment: apiToken?.environment ?? null,
        duration_ms: duration === null ? null : Math.round(duration * 1000) / 1000,
        bytes: call.bytes,
        ...(call.isCutOff && { cut_off: true }),
        ...call.traceIds,
      },
      'request',
    )
  }
  return { end }
}

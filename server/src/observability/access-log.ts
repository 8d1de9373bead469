import type { FastifyBaseLogger } from 'fastify'
import type { RequestObserver, CompletedRequest } from '../http/server/request-observer.ts'

/** Logs the given share of all requests, from 0 to 1, and every request that failed with 5xx. */
export function accessLog({
  logger,
  share,
}: {
  logger: Pick<FastifyBaseLogger, 'info'>
  share: number
}): RequestObserver {
  const end = (request: CompletedRequest) => {
    const { status, apiToken, duration } = request
    if (Math.random() >= share && (status ?? 0) < 500) return
    logger.info(
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
  return { end }
}

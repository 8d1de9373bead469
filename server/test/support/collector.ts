import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Scope } from './scope.ts'

export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly traceState: string | undefined
  readonly name: string
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number
  readonly attributes: Record<string, unknown>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** 2 for an error. */
  readonly status: number | undefined
  /** Attributes of the process that sent the span. */
  readonly resource: Record<string, unknown>
}

export interface Collector {
  /** Settings for a service that sends its spans to this collector. */
  readonly settings: Record<string, string>
  readonly spans: ReceivedSpan[]
  /** All requests, including their headers. */
  readonly received: () => string
  /** Resolves when a span matches. */
  readonly until: (isIt: (span: ReceivedSpan) => boolean) => Promise<ReceivedSpan>
}

/** Starts a collector of spans over HTTP with JSON (OTLP). */
export async function startCollector(t: Scope): Promise<Collector> {
  const spans: ReceivedSpan[] = []
  let received = ''
  let wake: () => void = () => undefined
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      received += JSON.stringify(request.headers) + text
      if (request.url === '/v1/traces') spans.push(...spansOf(JSON.parse(text)))
      response.setHeader('content-type', 'application/json').end('{}')
      wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    settings: {
      UGS_TRACES: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
    spans,
    received: () => received,
    until: async (isIt) => {
      for (;;) {
        const found = spans.find(isIt)
        if (found !== undefined) return found
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

function spansOf({ resourceSpans }: any): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        ...span,
        attributes: attributesOf(span.attributes),
        links: span.links ?? [],
        status: span.status?.code,
        resource: attributesOf(resource.attributes),
      })),
    ),
  )
}

function attributesOf(list: readonly { key: string; value: Record<string, unknown> }[]) {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]))
}

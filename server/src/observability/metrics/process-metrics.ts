import { readdirSync, readFileSync } from 'node:fs'
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { Counter, type Registry } from 'prom-client'
import { addGauge } from './gauge.ts'
import { Histogram, type Series } from './histogram.ts'

/** How often the event loop is to come by, in milliseconds. */
const intervalMs = 20
const delayBounds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
const collectionBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]

/**
 * Of the process, under the names that Prometheus' own libraries and prom-client gave them.
 * @returns what stops the measuring
 */
export function addProcessMetrics(registry: Registry): () => void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time, of all threads.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage()
      this.reset()
      this.inc((user + system) / 1e6)
    },
  })
  const startedAt = performance.timeOrigin / 1000
  addGauge(registry, {
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since 1970; of several, the last.',
    read: () => startedAt,
    aggregator: 'max',
  })
  addGauge(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Memory that the process holds.',
    read: () => process.memoryUsage.rss(),
  })
  addGauge(registry, {
    name: 'nodejs_heap_size_used_bytes',
    help: "Of V8's heap, what is in use.",
    read: () => process.memoryUsage().heapUsed,
  })
  addGauge(registry, {
    name: 'process_open_fds',
    help: 'Open files and connections, on Linux.',
    read: () => onLinux(() => readdirSync('/proc/self/fd').length),
  })
  addGauge(registry, {
    name: 'process_max_fds',
    help: 'How many there may be, on Linux.',
    read: () => onLinux(maxOpenFiles),
  })
  const stops = [measureDelays(registry), measureCollections(registry)]
  return () => stops.forEach((stop) => stop())
}

function onLinux(read: () => number | undefined): number | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function maxOpenFiles(): number | undefined {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
  return limit === undefined ? undefined : Number(limit)
}

/** By how much a timer is late. `monitorEventLoopDelay` of Node.js cannot be added up over time, nor over processes. */
function measureDelays(registry: Registry): () => void {
  const delays = new Histogram({
    name: 'ugs_event_loop_delay_seconds',
    help: 'By how much the event loop came late to a timer that is due every 20 ms.',
    bounds: delayBounds,
    registry,
  }).addSeries()
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    delays.observe(Math.max(now - last - intervalMs, 0) / 1000)
    last = now
  }, intervalMs).unref()
  return () => clearInterval(timer)
}

/** What Node.js tells of a garbage collection. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } }

function measureCollections(registry: Registry): () => void {
  const durations = new Histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Time that garbage collections took, by their kind.',
    bounds: collectionBounds,
    registry,
  })
  const ofKind = new Map<number, Series>(
    Object.entries({
      minor: constants.NODE_PERFORMANCE_GC_MINOR,
      major: constants.NODE_PERFORMANCE_GC_MAJOR,
      incremental: constants.NODE_PERFORMANCE_GC_INCREMENTAL,
      weak_callbacks: constants.NODE_PERFORMANCE_GC_WEAKCB,
    }).map(([kind, number]) => [number, durations.addSeries({ kind })]),
  )
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as Collection[]) {
      ofKind.get(detail.kind)?.observe(duration / 1000)
    }
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => observer.disconnect()
}

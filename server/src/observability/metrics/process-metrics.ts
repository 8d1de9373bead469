import { readdirSync, readFileSync } from 'node:fs'
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks'
import { Counter, type Registry } from 'prom-client'
import { addGauge } from './gauge.ts'
import { Histogram, type Series } from './histogram.ts'

/** Interval of the timer whose delay is measured, in milliseconds. */
const intervalMs = 20
const delayBounds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
const collectionBounds = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]

/**
 * Adds metrics of the process, with the names that Prometheus' client libraries use.
 * @returns a function that stops measuring
 */
export function addProcessMetrics(registry: Registry): () => void {
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of all threads.',
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
    help: 'Start of the process, in seconds since 1970. Latest of the workers.',
    read: () => startedAt,
    aggregator: 'max',
  })
  addGauge(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    read: () => process.memoryUsage.rss(),
  })
  addGauge(registry, {
    name: 'nodejs_heap_size_used_bytes',
    help: "Used part of V8's heap.",
    read: () => process.memoryUsage().heapUsed,
  })
  addGauge(registry, {
    name: 'process_open_fds',
    help: 'Open files and connections (Linux).',
    read: () => onLinux(() => readdirSync('/proc/self/fd').length),
  })
  addGauge(registry, {
    name: 'process_max_fds',
    help: 'Maximum number of open files (Linux).',
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

/** Measures the delay of a timer. The percentiles of Node.js's `monitorEventLoopDelay` do not add up over time or processes. */
function measureDelays(registry: Registry): () => void {
  const delays = new Histogram({
    name: 'ugs_event_loop_delay_seconds',
    help: 'Delay of a timer that is due every 20 ms.',
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

/** A garbage collection, as Node.js reports it. */
type Collection = PerformanceEntry & { readonly detail: { readonly kind: number } }

function measureCollections(registry: Registry): () => void {
  const durations = new Histogram({
    name: 'nodejs_gc_duration_seconds',
    help: 'Duration of garbage collections.',
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

import { Counter, type Registry } from 'prom-client'
import { addGauge } from './gauge.ts'

/** The event feed of a process, as its metrics see it. */
export interface WatchedFeed {
  readonly subscribers: number
  readonly sent: number
  readonly lagMs: number | null
}

export function addFeedMetrics(registry: Registry, feed: WatchedFeed): void {
  addGauge(registry, {
    name: 'ugs_event_connections',
    help: 'Connections to /events.',
    read: () => feed.subscribers,
  })
  new Counter({
    name: 'ugs_events_sent_total',
    help: 'Events sent to connections.',
    registers: [registry],
    collect() {
      this.reset()
      this.inc(feed.sent)
    },
  })
  addGauge(registry, {
    name: 'ugs_event_lag_seconds',
    help: 'Time since which changes may be missing from the event streams. Absent while the feed does not read.',
    read: () => (feed.lagMs === null ? undefined : feed.lagMs / 1000),
    aggregator: 'max',
  })
}

import type { Registry } from 'prom-client'
import type { StoreSpace } from '../../domain/store.ts'
import { addGauge } from './gauge.ts'

/** Metrics of the size of the store and of its disk. Only the process that runs the maintenance has them. */
export class SpaceMetrics {
  readonly #registry: Registry
  #space: StoreSpace | undefined

  constructor(registry: Registry) {
    this.#registry = registry
  }

  set(space: StoreSpace, warningBytes: number): void {
    const isFirst = this.#space === undefined
    this.#space = space
    if (!isFirst) return
    this.#add('ugs_store_size_bytes', 'Size of the store, read every minute.', ({ size }) => size)
    if (space.free === null) return
    this.#add('ugs_store_log_size_bytes', 'Size of the write-ahead log, read every minute.', ({ log }) => log)
    this.#add(
      'ugs_disk_free_bytes',
      'Free space on the disk of the store, read every minute.',
      ({ free }) => free,
    )
    this.#add('ugs_disk_warning_bytes', 'Free space below which a warning is logged.', () => warningBytes)
  }

  #add(name: string, help: string, of: (space: StoreSpace) => number | null): void {
    const read = () => (this.#space && of(this.#space)) ?? undefined
    addGauge(this.#registry, { name, help, read, aggregator: 'max' })
  }
}

import assert from 'node:assert/strict'
import { sendRequest } from './http.ts'
import type { RunningService } from './service.ts'

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface Family {
  readonly type: string
  readonly samples: readonly Sample[]
}

/** Returns the URL of the metrics that a service with `UGS_METRICS_PORT` prints. */
export function metricsUrlOf({ stdout }: Pick<RunningService, 'stdout'>): URL {
  return new URL(/"metrics":"([^"]+)"/.exec(stdout())?.[1] ?? '')
}

export class Scrape {
  readonly text: string
  readonly families: ReadonlyMap<string, Family>

  constructor(text: string) {
    this.text = text
    this.families = parse(text)
  }

  /** Returns the value of the sample with this name and these labels, or undefined. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const found = this.#all(name).filter((sample) => isSame(sample.labels, labels))
    assert.ok(found.length <= 1, `${name} has ${found.length} samples with the same labels`)
    return found[0]?.value
  }

  /** Returns the values of all samples with this name, by labels and without zeros. */
  values(name: string): Record<string, number> {
    return Object.fromEntries(
      this.#all(name)
        .filter(({ value }) => value !== 0)
        .map(({ labels, value }) => [Object.values(labels).join(' '), value]),
    )
  }

  #all(name: string): readonly Sample[] {
    const family = this.families.get(name.replace(/_(bucket|sum|count)$/, '')) ?? this.families.get(name)
    return family?.samples.filter((sample) => sample.name === name) ?? []
  }
}

/** Returns the metrics after the service has counted all of its responses. */
export async function scrape(service: Pick<RunningService, 'stdout'>): Promise<Scrape> {
  const { origin, pathname } = metricsUrlOf(service)
  for (;;) {
    const { status, text } = await sendRequest(origin, { path: pathname })
    assert.equal(status, 200)
    const scrape = new Scrape(text)
    // A client may read a response before the service has counted it.
    if (scrape.value('ugs_http_requests_in_flight') === 0) return scrape
  }
}

/** Parses Prometheus' text format strictly. */
function parse(text: string): Map<string, Family> {
  assert.ok(text.endsWith('\n'))
  const families = new Map<string, { type: string; samples: Sample[] }>()
  let name = ''
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const help = /^# HELP (\w+) \S/.exec(line)?.[1]
    const [, typed, type] = /^# TYPE (\w+) (counter|gauge|histogram)$/.exec(line) ?? []
    if (help !== undefined) name = help
    else if (type !== undefined) {
      assert.equal(typed, name)
      assert.ok(!families.has(name), `${name} is there twice`)
      families.set(name, { type, samples: [] })
    } else {
      const [, sample = '', labels = '', value = ''] =
        /^(\w+)(?:\{(\w+="[^"\\\n]*"(?:,\w+="[^"\\\n]*")*)\})? (\S+)$/.exec(line) ?? []
      assert.ok(sample === name || /^_(bucket|sum|count)$/.test(sample.replace(name, '')), line)
      assert.ok(Number.isFinite(Number(value)), line)
      families.get(name)?.samples.push({ name: sample, labels: labelsOf(labels), value: Number(value) })
    }
  }
  return families
}

function labelsOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

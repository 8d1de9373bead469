/**
 * A cache in two generations of at most `size`, which counts entries or their weights. When the recent generation is full, it
 * becomes the older one, and the entries of the older one are dropped. A hit moves an entry to the recent generation.
 */
export class Cache<Value> {
  readonly #size: number
  readonly #weightOf: (key: string, value: Value) => number
  #weight = 0
  #recent = new Map<string, Value>()
  #older = new Map<string, Value>()

  constructor(size: number, weightOf: (key: string, value: Value) => number = () => 1) {
    this.#size = size
    this.#weightOf = weightOf
  }

  get(key: string): Value | undefined {
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  /** Its weight still counts until the generation ends. */
  delete(key: string): void {
    this.#recent.delete(key)
    this.#older.delete(key)
  }

  set(key: string, value: Value): void {
    const weight = this.#weightOf(key, value)
    if (this.#weight + weight > this.#size) {
      this.#older = this.#recent
      this.#recent = new Map()
      this.#weight = 0
    }
    this.#weight += weight
    this.#recent.set(key, value)
  }
}

/**
 * What was found lately, by a text. It holds at most twice `size` entries: once as many are new, those that were asked for
 * since the last time stay, and the others are dropped.
 */
export class Cache<Value> {
  readonly #size: number
  #recent = new Map<string, Value>()
  #older = new Map<string, Value>()

  constructor(size: number) {
    this.#size = size
  }

  get(key: string): Value | undefined {
    const recent = this.#recent.get(key)
    if (recent !== undefined) return recent
    const older = this.#older.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: string, value: Value): void {
    if (this.#recent.size >= this.#size) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(key, value)
  }
}

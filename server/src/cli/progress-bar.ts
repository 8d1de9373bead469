import { SingleBar } from 'cli-progress'

/** Where there is no terminal, one line in as many milliseconds. */
const lineEveryMs = 2000

/** Shows on standard error how far a long task is: a bar in a terminal, plain lines elsewhere. */
export class ProgressBar {
  readonly #unit: string
  #task = ''
  #bar: SingleBar | undefined
  #lastLineAt = 0

  /** `unit`: what is counted, such as `rows`. */
  constructor(unit: string) {
    this.#unit = unit
  }

  /** `total` may be unknown. */
  show(task: string, done: number, total?: number): void {
    if (process.stderr.isTTY) this.#draw(task, done, total)
    else this.#write(task, done, total)
  }

  stop(): void {
    this.#bar?.stop()
    this.#bar = undefined
  }

  #draw(task: string, done: number, total: number | undefined): void {
    if (task !== this.#task) {
      this.stop()
      this.#task = task
      this.#bar = new SingleBar({
        format:
          total === undefined
            ? `${task} {value} ${this.#unit}`
            : `${task} [{bar}] {percentage}% {value} of {total} ${this.#unit}, {eta_formatted}`,
        // With it the longest line fits into 80 columns.
        barsize: 16,
        stream: process.stderr,
        // Without it the bar turns wrapping off, and leaves it so where Ctrl-C ends the process.
        linewrap: true,
      })
      this.#bar.start(total ?? 0, done)
    } else this.#bar?.update(done)
  }

  #write(task: string, done: number, total: number | undefined): void {
    const now = performance.now()
    if (done !== total && task === this.#task && now - this.#lastLineAt < lineEveryMs) return
    this.#task = task
    this.#lastLineAt = now
    console.error(`${task}: ${done}${total === undefined ? '' : ` of ${total}`} ${this.#unit}`)
  }
}

import { SingleBar } from 'cli-progress'
import { printMessage } from './output.ts'

/** Minimum time between two lines without a terminal, in milliseconds. */
const lineIntervalMs = 2000

/** Shows progress on standard error: a bar in a terminal, lines elsewhere. */
export class ProgressBar {
  readonly #unit: string
  #task = ''
  #bar: SingleBar | undefined
  #lastLineAt = 0

  /** `unit` is a plural such as `rows`. */
  constructor(unit: string) {
    this.#unit = unit
  }

  /** `total` is undefined if it is unknown. */
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
        // The longest line fits into 80 columns.
        barsize: 16,
        stream: process.stderr,
        // Without it, Ctrl-C would leave line wrapping off in the terminal.
        linewrap: true,
      })
      this.#bar.start(total ?? 0, done)
    } else this.#bar?.update(done)
  }

  #write(task: string, done: number, total: number | undefined): void {
    const now = performance.now()
    if (done !== total && task === this.#task && now - this.#lastLineAt < lineIntervalMs) return
    this.#task = task
    this.#lastLineAt = now
    printMessage(`${task}: ${done}${total === undefined ? '' : ` of ${total}`} ${this.#unit}`)
  }
}

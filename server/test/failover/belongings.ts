import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Note } from './keeper.js'

/** Processes and folders that a separate keeper process removes after the tests, even if the tests are killed. */
export class Belongings {
  // In a new session, so that Ctrl-C does not end the keeper with the tests.
  readonly #keeper = spawn(process.execPath, [fileURLToPath(new URL('keeper.js', import.meta.url))], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })

  folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'ugs-failover-'))
    this.#note({ folder })
    return folder
  }

  /** PostgreSQL needs SIGQUIT: after SIGKILL it cannot end its child processes. */
  child(child: ChildProcess, endWith: NodeJS.Signals): void {
    this.process(child.pid as number, endWith)
    child.on('exit', () => this.#note({ ended: child.pid as number }))
  }

  process(pid: number, endWith: NodeJS.Signals): void {
    this.#note({ started: pid, endWith })
  }

  /** Resolves when everything is removed. */
  async end(): Promise<void> {
    const gone = once(this.#keeper, 'exit')
    this.#keeper.stdin.end()
    await gone
  }

  #note(note: Note): void {
    if (this.#keeper.stdin.writable) this.#keeper.stdin.write(`${JSON.stringify(note)}\n`)
  }
}

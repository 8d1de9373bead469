/** A test or a suite that cleans up at its end. */
export interface Scope {
  after(done: () => void | Promise<void>): void
}

const stacks = new WeakMap<Scope, (() => void | Promise<void>)[]>()

/**
 * Returns a scope that ends with a test. The cleanups of all such scopes of a test run in reverse order, for example the stop of
 * a service before the drop of its database.
 */
export function lifo(t: Scope): Scope {
  const cleanups = stacks.get(t) ?? []
  if (!stacks.has(t)) {
    stacks.set(t, cleanups)
    t.after(async () => {
      for (const done of cleanups) await done()
    })
  }
  return { after: (done) => cleanups.unshift(done) }
}

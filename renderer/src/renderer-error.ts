/** An introspection or a template failed. Every error of this package is one, except those for invalid arguments. */
export abstract class RendererError extends Error {
  /** Tells the kind of failure. */
  abstract readonly code: string
}

/** A store that cannot be opened. The message is for the operator: what is wrong, where, and the cure. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

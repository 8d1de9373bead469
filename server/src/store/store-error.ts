/** The store cannot be opened. The message tells the operator the problem, the location and the remedy. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

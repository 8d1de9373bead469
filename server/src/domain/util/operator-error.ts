/** A failure whose message tells the operator the problem and the remedy. A command ends with exit code 1. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError'
}

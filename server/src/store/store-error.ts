import { OperatorError } from '../domain/util/operator-error.ts'

/** The store cannot be opened. The message tells the operator the problem, the location and the remedy. */
export class StoreError extends OperatorError {
  override readonly name = 'StoreError'
}

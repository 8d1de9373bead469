export interface FieldFault {
  /** A JSON Pointer into the body. */
  readonly path: string
  readonly message: string
}

interface Description {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly requestId?: string | undefined
  readonly fields?: readonly FieldFault[] | undefined
}

/** A failed request. `status` is 0 if there was no response. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  /** Error code of the service, or `unreachable` or `unreadable` if there was no response of it. */
  readonly code: string
  readonly requestId: string | undefined
  readonly fields: readonly FieldFault[]

  constructor({ status, code, message, requestId, fields = [] }: Description) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.fields = fields
  }
}

interface ErrorBody {
  readonly error: {
    readonly code: string
    readonly message: string
    readonly request_id?: string
    readonly fields?: readonly FieldFault[]
  }
}

function isErrorBody(value: unknown): value is ErrorBody {
  const error = (value as Partial<ErrorBody> | null)?.error
  return typeof error?.code === 'string' && typeof error.message === 'string'
}

/** Parses an error response. Handles text of a proxy too. */
export function errorOf(status: number, text: string): ApiError {
  const body = parsed(text)
  if (isErrorBody(body)) {
    const { code, message, request_id: requestId, fields } = body.error
    return new ApiError({ status, code, message, requestId, fields })
  }
  return new ApiError({
    status,
    code: 'unreadable',
    message: `The response (status ${status}) is not from the service. A proxy may have sent it.`,
  })
}

/** Returns the error of input that is not sent to the service. */
export function invalidInput(fields: readonly FieldFault[]): ApiError {
  const message = fields.map((fault) => `${fault.path.slice(1)}: ${fault.message}`).join('; ')
  return new ApiError({ status: 0, code: 'validation_failed', message, fields })
}

/** Returns a handler of rejections that assigns errors to fields by their codes. */
export const assignTo =
  (faults: Readonly<Record<string, FieldFault>>) =>
  (error: unknown): never => {
    const fault = error instanceof ApiError ? faults[error.code] : undefined
    throw fault === undefined ? error : invalidInput([fault])
  }

export function unreachable(): ApiError {
  return new ApiError({
    status: 0,
    code: 'unreachable',
    message: 'No response from the service. Check your connection, and that the service is running.',
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

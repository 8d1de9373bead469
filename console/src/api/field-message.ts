import { ApiError } from './errors.ts'

/** Returns the error message for a place of the body, or undefined. */
export function fieldMessage(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined
  const messages = error.fields.filter((fault) => fault.path === path).map(({ message }) => message)
  return messages.length === 0 ? undefined : sentence(messages.join('; '))
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

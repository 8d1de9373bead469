import type { Tool } from '../../../server/test/support/tool.ts'

/** A language with a client library. */
export interface Language {
  readonly name: 'Python' | 'Go' | 'Java'
  readonly tool: Tool
  readonly hasManagement: boolean
  readonly variants: readonly { readonly suffix: string; readonly isAsync: boolean }[]
  /** Returns the command of the program that runs calls of the sources of the library. Builds the program if it must. */
  readonly adapter: (command: string) => {
    readonly program: string
    readonly args: readonly string[]
    readonly env: NodeJS.ProcessEnv
  }
}

import { TemplateError } from '../template-error.ts'
import { readOptions, type TemplateOptions } from './options.ts'
import { statementsOf } from './tokens.ts'

/** A token of a template's code. White space and comments are not tokens. */
export interface SqlToken {
  readonly kind: 'name' | 'literal' | 'variable' | 'symbol'
  /** The text without quotes; for `{{ identifier … }}`, one of its allowed names. Keywords and numbers are names, too. */
  readonly text: string
  readonly isQuoted: boolean
  /** Index of its first character in the template. */
  readonly start: number
  /** Index after its last character. */
  readonly end: number
}

/**
 * Splits a template into statements, and these into tokens, by the lexical rules of the dialect. Brackets of optional clauses are
 * symbols. `{{ identifier … }}` is one token for each of its allowed names.
 * @throws TemplateError for a template that `compileSql` refuses to split
 * @throws TypeError for options that are not valid
 */
export function scanSql(template: string, options: TemplateOptions): SqlToken[][] {
  const { dialect, identifiers } = readOptions(options)
  return statementsOf(template, dialect).map((statement) =>
    statement.tokens.flatMap(({ start, end, text, quotes, variable }): SqlToken[] => {
      const token = { start, end, isQuoted: quotes !== undefined }
      if (variable?.form === 'identifier') {
        const names = identifiers.get(variable.key)
        if (names === undefined)
          throw new TemplateError(
            'identifier_not_allowed',
            `identifiers lists no names for ${variable.name}`,
            variable,
            variable.name,
          )
        return names.map((name) => ({ ...token, kind: 'name', text: name, isQuoted: true }))
      }
      if (variable !== undefined) return [{ ...token, kind: 'variable', text: variable.name }]
      const source = template.slice(start, end)
      if (quotes !== undefined) {
        const enclosed = source.slice(quotes.open.length, -quotes.close.length)
        return [{ ...token, kind: quotes.holds === 'literal' ? 'literal' : 'name', text: enclosed }]
      }
      return [{ ...token, kind: /^[\w\u0080-\uffff]/.test(text) ? 'name' : 'symbol', text: source }]
    }),
  )
}

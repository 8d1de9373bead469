import { TemplateError } from '../template-error.ts'
import { isTokenVariable, type Variable } from '../variables.ts'
import type { Dialect } from './dialects.ts'
import { Scanner, type Token } from './scanner.ts'

/** An optional clause of a template: `[[ AND day >= {{ filter.from }} ]]`. */
export interface OptionalClause {
  readonly start: number
  readonly end: number
  readonly variables: readonly Variable[]
}

/**
 * Finds the optional clauses of a template.
 * @param optional keys of the variables that may be absent
 * @throws TemplateError if a clause is malformed, holds a variable of the user group or viewer, or can never be absent
 */
export function findOptionalClauses(
  template: string,
  dialect: Dialect,
  optional: ReadonlySet<string>,
): OptionalClause[] {
  if (!template.includes('[[')) return []
  const scanner = new Scanner(template, dialect)
  const clauses: OptionalClause[] = []
  for (let token = scanner.next(); token !== undefined; token = scanner.next()) {
    if (token.text === '[[') clauses.push(readClause(template, scanner, token, optional))
  }
  return clauses
}

function readClause(
  template: string,
  scanner: Scanner,
  opening: Token,
  optional: ReadonlySet<string>,
): OptionalClause {
  const refuse = (problem: string, { start }: Token = opening, variable?: Variable) =>
    new TemplateError('invalid_optional_clause', problem, { template, offset: start }, variable?.name)
  const variables: Variable[] = []
  let depth = 0
  for (let token = scanner.next(); token !== undefined; token = scanner.next()) {
    const { text, variable } = token
    if (variable) variables.push(variable)
    if (variable && isTokenVariable(variable)) {
      throw refuse(
        `${variable.name} is in an optional clause, so a token without it would show more: ` +
          'move the condition out of [[ … ]]',
        token,
        variable,
      )
    }
    if (text === '[[' || text === ';') throw refuse(`An optional clause cannot contain ${text}`, token)
    if (text === '(' || text === '[' || text === '{') depth++
    if (text !== ')' && text !== ']' && text !== '}') continue
    if (depth-- > 0) continue
    const end = token.start + 2
    if (!template.startsWith(']]', token.start))
      throw refuse(`${text} closes nothing in the optional clause. ${otherwise}`, token)
    scanner.next()
    if (!variables.some(({ key }) => optional.has(key))) throw refuse(neverAbsent)
    return { start: opening.start, end, variables }
  }
  throw refuse(`[[ opens an optional clause that is not closed by ]]. ${otherwise}`)
}

const otherwise = 'For nested arrays, write [ [. For a name that begins with [, use double quotes'

const neverAbsent =
  'An optional clause needs a variable that may be absent, and is listed in `optional`, ' +
  `for example optional: ['filter.from']. ${otherwise}`

/**
 * Returns the template without the absent clauses, and without the brackets of the others. Every other character keeps its
 * offset, so that errors name its position in the template.
 */
export function withoutClauses(
  template: string,
  clauses: readonly OptionalClause[],
  isAbsent: (clause: OptionalClause) => boolean,
): string {
  let text = ''
  let end = 0
  for (const clause of clauses) {
    const written = template.slice(clause.start, clause.end)
    text += template.slice(end, clause.start)
    text += isAbsent(clause) ? written.replace(/[^\r\n]/g, ' ') : `  ${written.slice(2, -2)}  `
    end = clause.end
  }
  return text + template.slice(end)
}

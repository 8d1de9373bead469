import { differencesOf } from '../../components/diff.ts'
import type { Difference, UserGroup, Version } from '../../api/wire.ts'

export type Content = Pick<UserGroup, 'name' | 'mapping' | 'properties'>

/** The editable fields, which versions keep. */
export const contentOf = ({ name, mapping, properties }: Content): Content => ({ name, mapping, properties })

/** One change of name, mapping or properties. */
export interface Change {
  /** State after the change. Only the current state is not a version. */
  readonly state: Omit<Version, 'revision'>
  readonly revision: number | undefined
  /** State before the change. Undefined if it is not kept or did not exist. */
  readonly previous: Version | undefined
  readonly differences: readonly Difference[]
}

/** Newest first. */
export function changesOf(userGroup: UserGroup, versions: readonly Version[]): Change[] {
  const { name, mapping, properties, updated_at, updated_by } = userGroup
  const states = [{ name, mapping, properties, updated_at, updated_by, revision: undefined }, ...versions]
  return states.map((state, i) => {
    const previous = versions[i]
    return {
      state,
      revision: state.revision,
      previous,
      differences: previous === undefined ? [] : differencesOf(contentOf(previous), contentOf(state)),
    }
  })
}

/** Summarizes a change: "Name and mapping changed". */
export function summaryOf({ previous, differences, state }: Change, createdAt: string): string {
  if (previous === undefined) return state.updated_at === createdAt ? 'Created' : 'The oldest that is kept'
  const parts = ['name', 'mapping', 'properties'].filter((part) =>
    differences.some(({ path }) => path === `/${part}` || path.startsWith(`/${part}/`)),
  )
  return changedText(parts)
}

/** Returns "Name and mapping changed". */
export function changedText(fields: readonly string[]): string {
  const text = new Intl.ListFormat('en').format(fields)
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} changed`
}

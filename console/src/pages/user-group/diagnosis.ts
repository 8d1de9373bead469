import { nearest, resolve, type Registry } from '../../api/registry.ts'
import type { UserGroupView } from '../../api/wire.ts'

export type Entry = UserGroupView['data_sources'][number]

interface Finding {
  readonly title: string
  readonly text: string
  readonly remedy?: 'resume' | 'edit'
}

/** True if anything is registered. Otherwise mappings are passed on as they are. */
export const isUsed = ({ schemas }: Registry): boolean => schemas.length > 0

/** Returns the problem of a mapping entry and its remedy, or undefined. */
export function faultOf(
  { schema, data_source, has_schema, registered }: Entry,
  registry: Registry | undefined,
) {
  if (registered !== null || registry === undefined || !isUsed(registry)) return undefined
  if (!has_schema) {
    const meant = nearest(
      registry.schemas.map(({ provided_id }) => provided_id),
      schema,
    )
    return { text: `No schema “${schema}” is registered.`, meant, isSchema: true }
  }
  const { ofSchema } = resolve(registry, schema, data_source)
  const meant = nearest(
    ofSchema.map(({ provided_id }) => provided_id),
    data_source,
  )
  return { text: `The schema has no data source “${data_source}”.`, meant, isSchema: false }
}

/** Returns possible reasons for empty dashboards, most certain first. */
export function diagnose(view: UserGroupView, registry: Registry | undefined): Finding[] {
  const { user_group: userGroup, data_sources: entries, token, last_introspected_at } = view
  const faults = entries.flatMap((entry) => faultOf(entry, registry) ?? [])
  const [fault] = faults
  const findings: (Finding | false)[] = [
    userGroup.suspended_at !== null && {
      title: 'It is suspended',
      text: 'Its token is inactive, so that its dashboards show nothing.',
      remedy: 'resume' as const,
    },
    userGroup.suspended_at === null &&
      !token.active && {
        title: 'Its token is not active',
        text: 'The renderer does not accept it. Rotate the token.',
      },
    entries.length === 0 && {
      title: 'It has no mapping',
      text: 'Its dashboards have no data source to read from.',
      remedy: 'edit' as const,
    },
    fault !== undefined && {
      title:
        faults.length === entries.length
          ? 'Its mapping names nothing that is registered'
          : `${faults.length} of ${entries.length} entries of its mapping name nothing that is registered`,
      text: `${fault.text}${fault.meant === undefined ? '' : ` Did you mean “${fault.meant}”?`} Dashboards that are built on it find no data.`,
      remedy: 'edit' as const,
    },
    last_introspected_at === null && {
      title: 'No renderer has introspected it yet',
      text: 'Nobody has opened one of its dashboards, or the page does not send its token.',
    },
  ]
  return findings.filter((finding) => finding !== false)
}

import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Viewed } from '../../api/user-groups.ts'
import { dropDraft, keepDraft, keptDraft, ownerOf } from '../../session/sign-in-redirect.ts'
import { lastEnding, useSession } from '../../session/store.ts'
import { draftOf, isChanged, newRow, type Draft } from './draft.ts'

/** State from which a draft started. A newer one must not replace it silently. */
export type Base = Pick<Viewed, 'user_group' | 'etag'>

interface Edited {
  readonly base: Base
  readonly draft: Draft
}

export function useDraft(viewed: Viewed) {
  const owner = ownerOf(useSession())
  const teamId = viewed.user_group.team_id
  const key = useMemo(() => ({ owner, teamId }), [owner, teamId])
  const [resumed] = useState(() => resume(keptDraft(key) as Edited | undefined))
  const [edited, setEdited] = useState<Edited>(
    () => resumed ?? { base: viewed, draft: draftOf(viewed.user_group) },
  )
  const latest = useRef(edited)
  useEffect(() => {
    latest.current = edited
  }, [edited])
  useEffect(() => {
    dropDraft(key)
    return () => {
      const { base, draft } = latest.current
      if (lastEnding() !== 'expired' || !isChanged(draft, base.user_group)) return
      const content: Edited = { base: { user_group: base.user_group, etag: base.etag }, draft }
      keepDraft({ ...key, content })
    }
  }, [key])
  const change = useCallback(
    (changes: Partial<Draft>) => setEdited(({ base, draft }) => ({ base, draft: { ...draft, ...changes } })),
    [],
  )
  return {
    ...edited,
    /** True if the draft was started before the session ended. */
    isResumed: resumed !== undefined,
    change,
    startFrom: (base: Base, draft = draftOf(base.user_group)) => setEdited({ base, draft }),
  }
}

/** Returns a kept draft with new row ids, because those of another page may be in use. */
function resume(kept: Edited | undefined): Edited | undefined {
  if (kept === undefined) return undefined
  const rows = kept.draft.rows.map(({ schema, dataSource }) => newRow(schema, dataSource))
  return { base: kept.base, draft: { ...kept.draft, rows } }
}

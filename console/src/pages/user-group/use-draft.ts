import { useEffect, useRef, useState } from 'react'
import type { Viewed } from '../../api/user-groups.ts'
import { lastEnding, onSessionChange, useSession } from '../../session/store.ts'
import { draftOf, isChanged, type Draft } from './draft.ts'

interface Edited {
  /** State from which the draft started. A newer one must not replace it silently. */
  readonly base: Viewed
  readonly draft: Draft
}

/** Drafts that were unsaved when a session ended, in memory only, to continue after the next sign-in. */
let kept: (Edited & { readonly key: string }) | undefined

onSessionChange(() => {
  if (lastEnding() === 'signed_out') kept = undefined
})

export function useDraft(viewed: Viewed) {
  const { workspace, api_environment_tag: environment } = useSession()
  const key = JSON.stringify([workspace.id, environment, viewed.user_group.team_id])
  const [resumed] = useState(() => (kept?.key === key ? kept : undefined))
  const [edited, setEdited] = useState<Edited>(
    () => resumed ?? { base: viewed, draft: draftOf(viewed.user_group) },
  )
  const latest = useRef(edited)
  useEffect(() => {
    latest.current = edited
  }, [edited])
  useEffect(() => {
    if (kept?.key === key) kept = undefined
    return () => {
      const { base, draft } = latest.current
      if (lastEnding() === 'expired' && isChanged(draft, base.user_group)) kept = { key, base, draft }
    }
  }, [key])
  return {
    ...edited,
    /** True if the draft was started before the session ended. */
    isResumed: resumed !== undefined,
    change: (draft: Draft) => setEdited(({ base }) => ({ base, draft })),
    startFrom: (base: Viewed, draft = draftOf(base.user_group)) => setEdited({ base, draft }),
  }
}

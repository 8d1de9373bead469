import { publicPath } from '../public-path.ts'
import { currentSession, lastEnding, onSessionChange, type Session } from './store.ts'

/** Edits of a user group that were unsaved when a session ended. */
interface KeptDraft {
  /** Person or API token, and its place, as `ownerOf` returns them. */
  readonly owner: string
  readonly teamId: number
  readonly content: unknown
}

/** Path and draft with which a tab continues after a sign-in at the identity provider, which loads a new page. */
interface Redirect {
  /** Owner of the ended session. Null if there was none, as in a new tab. */
  readonly owner: string | null
  /** Path below `/console`. */
  readonly path: string
  readonly startedAt: number
  readonly draft?: KeptDraft
}

// A draft may hold customers' properties. It is in memory, and in the `sessionStorage` of this tab only from
// the click on the sign-in until the tab is back. Only its owner gets it. Its use, a sign-out and, after the
// redirect, the sign-in of another person delete it.
const item = 'console-redirect'
const root = `${publicPath}/console`
/** The service accepts a sign-in for as long. */
const maxRedirectMs = 600_000

let arrived = takeRedirect()
let draft = arrived?.draft
let lastOwner = arrived?.owner ?? null

onSessionChange(() => {
  const session = currentSession()
  if (session !== undefined) continueAs(ownerOf(session))
  else if (lastEnding() === 'signed_out') forget()
})

// A browser that goes back may show the old page, which has everything in memory.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) sessionStorage.removeItem(item)
})

export function ownerOf({ workspace, api_environment_tag, api_token, person }: Session): string {
  return JSON.stringify([workspace.id, api_environment_tag, api_token?.id ?? null, person?.id ?? null])
}

export function keepDraft(kept: KeptDraft): void {
  draft = kept
}

export function keptDraft({ owner, teamId }: Omit<KeptDraft, 'content'>): unknown {
  return draft?.owner === owner && draft.teamId === teamId ? draft.content : undefined
}

export function dropDraft(of: Omit<KeptDraft, 'content'>): void {
  if (keptDraft(of) !== undefined) draft = undefined
}

/** Stores the path and the draft of the ended session before the browser goes to the identity provider. */
export function prepareRedirect(): void {
  const redirect: Redirect = {
    owner: lastOwner,
    path:
      isAtRoot() && arrived !== undefined
        ? arrived.path
        : location.pathname.slice(root.length) + location.search,
    startedAt: Date.now(),
    ...(draft?.owner === lastOwner && { draft }),
  }
  sessionStorage.setItem(item, JSON.stringify(redirect))
}

function takeRedirect(): Redirect | undefined {
  const text = sessionStorage.getItem(item)
  sessionStorage.removeItem(item)
  if (text === null) return undefined
  const redirect = JSON.parse(text) as Redirect
  return Date.now() - redirect.startedAt < maxRedirectMs ? redirect : undefined
}

function continueAs(owner: string): void {
  sessionStorage.removeItem(item)
  if (arrived !== undefined) {
    if (arrived.owner === null || arrived.owner === owner) openPath(arrived.path)
    else draft = undefined
  }
  arrived = undefined
  lastOwner = owner
}

function forget(): void {
  sessionStorage.removeItem(item)
  arrived = undefined
  draft = undefined
}

/** Opens a page of the console after the callback, which always leads to `/console`. Ignores other paths. */
function openPath(path: string): void {
  const { origin, pathname, search } = new URL(root + path, location.origin)
  if (isAtRoot() && origin === location.origin && pathname.startsWith(`${root}/`))
    history.replaceState(history.state, '', pathname + search)
}

function isAtRoot(): boolean {
  return location.pathname.replace(/\/$/, '') === root
}

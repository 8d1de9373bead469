import { Center, Loader, VisuallyHidden } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { queryClient } from '../api/query-client.ts'
import { ErrorState } from '../components/states.tsx'
import { checkSession, resumeSession } from './calls.ts'
import { SignInPage } from './sign-in-page.tsx'
import { endOf, useSessionState, type Session } from './store.ts'

/** What is fetched while one signs in: the sign-in does without it. */
const appQuery = queryOptions({
  queryKey: ['app'],
  queryFn: () => import('../app.tsx'),
  retry: false,
  staleTime: Infinity,
})

/** The sign-in in place of every page until somebody is signed in; the address stays, and so does the way back. */
export function SessionGate() {
  const state = useSessionState()
  useEffect(() => void queryClient.query(appQuery).catch(() => undefined), [])
  if (state.kind === 'unknown') return <Resuming />
  if (state.kind === 'signed_out') return <SignInPage ending={state.ending} />
  return <SignedIn session={state.session} />
}

function SignedIn({ session }: { readonly session: Session }) {
  useEffect(() => () => queryClient.clear(), [])
  useEffect(() => watchEnd(session), [session])
  const { data: app, error } = useQuery(appQuery)
  if (app !== undefined) return <app.App />
  // There may be another version by now, which a reload fetches.
  return error === null ? <Loading /> : <Failed error={error} onRetry={() => location.reload()} />
}

/** Shows the sign-in once the session is over, so that nothing stays on a screen that was left. */
function watchEnd(session: Session): () => void {
  const timer = setInterval(() => {
    if (Date.now() > endOf(session)) void checkSession()
  }, 5000)
  return () => clearInterval(timer)
}

function Resuming() {
  const [error, setError] = useState<unknown>()
  const resume = () => {
    setError(undefined)
    resumeSession().catch(setError)
  }
  useEffect(resume, [])
  return error === undefined ? <Loading /> : <Failed error={error} onRetry={resume} />
}

function Loading() {
  return (
    <Whole>
      <Loader aria-label="Loading" />
    </Whole>
  )
}

function Failed(props: { readonly error: unknown; readonly onRetry: () => void }) {
  return (
    <Whole>
      <ErrorState {...props} title="The console cannot be opened" />
    </Whole>
  )
}

function Whole({ children }: { readonly children: ReactNode }) {
  return (
    <Center component="main" mih="100vh" p="md">
      <VisuallyHidden component="h1">User Group Service</VisuallyHidden>
      {children}
    </Center>
  )
}

import { Center, Loader, VisuallyHidden } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { queryClient } from '../api/query-client.ts'
import { MissingFile } from '../components/missing-file.tsx'
import { ErrorState } from '../components/states.tsx'
import { checkSession, resumeSession } from './requests.ts'
import { ConfirmLinkPage, SignInPage } from './sign-in-page.tsx'
import { endOf, useSessionState, type Session } from './store.ts'

/** Loaded during sign-in, which does not need it. */
const appQuery = queryOptions({
  queryKey: ['app'],
  queryFn: () => import('../app.tsx'),
  retry: false,
  staleTime: Infinity,
})

/** Shows the sign-in instead of every page until somebody is signed in. The address stays. */
export function SessionGate() {
  const state = useSessionState()
  useEffect(() => void queryClient.query(appQuery).catch(() => undefined), [])
  if (state.kind === 'unknown') return <Resuming />
  if (state.kind === 'signed_out') return <SignInPage {...state} />
  if (state.kind === 'unconfirmed') return <ConfirmLinkPage link={state.link} />
  // Another session is another page: nothing of one environment may stay in the other.
  return <SignedIn key={state.session.csrf_token} session={state.session} />
}

function SignedIn({ session }: { readonly session: Session }) {
  useEffect(() => () => queryClient.clear(), [])
  useEffect(() => watchEnd(session), [session])
  const { data: app, error } = useQuery(appQuery)
  if (app !== undefined) return <app.App />
  if (error === null) return <Loading />
  return (
    <Whole>
      <MissingFile />
    </Whole>
  )
}

/** Shows the sign-in once the session has ended, so that nothing stays on an unattended screen. */
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

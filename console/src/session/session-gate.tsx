import { Center, Loader } from '@mantine/core'
import { RouterProvider } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { queryClient } from '../api/query-client.ts'
import { ErrorState } from '../components/states.tsx'
import { router } from '../router.tsx'
import { checkSession, resumeSession } from './calls.ts'
import { SignInPage } from './sign-in-page.tsx'
import { endOf, useSessionState, type Session } from './store.ts'

/** The sign-in in place of every page until somebody is signed in; the address stays, and so does the way back. */
export function SessionGate() {
  const state = useSessionState()
  if (state.kind === 'unknown') return <Resuming />
  if (state.kind === 'signed_out') return <SignInPage ending={state.ending} />
  return <SignedIn session={state.session} />
}

function SignedIn({ session }: { readonly session: Session }) {
  useEffect(() => () => queryClient.clear(), [])
  useEffect(() => watchEnd(session), [session])
  return <RouterProvider router={router} />
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
  return (
    <Center mih="100vh" p="md">
      {error === undefined ? (
        <Loader aria-label="Loading" />
      ) : (
        <ErrorState error={error} onRetry={resume} title="The console cannot be opened" />
      )}
    </Center>
  )
}

import { RouterProvider } from '@tanstack/react-router'
import { router } from './router.tsx'

/** The part of the console behind the sign-in. */
export function App() {
  return <RouterProvider router={router} />
}

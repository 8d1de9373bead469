import { Notifications } from '@mantine/notifications'
import { RouterProvider } from '@tanstack/react-router'
import { router } from './router.tsx'

/** All that those who are signed in see. */
export function App() {
  return (
    <>
      <RouterProvider router={router} />
      <Notifications position="bottom-right" containerWidth={400} />
    </>
  )
}

import '@mantine/core/styles.css'
import './global.css'
import { MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, type ReactNode } from 'react'
import { createRoot, type Root } from 'react-dom/client'
import { queryClient } from './api/query-client.ts'
import { nonce } from './nonce.ts'
import { cssVariables, theme } from './theme.ts'

/** Renders a page with the theme and the query client. */
export function renderPage(page: ReactNode): Root {
  const element = document.querySelector('#root')
  if (element === null) throw new Error('The page has no #root')
  const root = createRoot(element)
  root.render(
    <StrictMode>
      <MantineProvider
        theme={theme}
        cssVariablesResolver={cssVariables}
        defaultColorScheme="auto"
        getStyleNonce={() => nonce}
      >
        <QueryClientProvider client={queryClient}>{page}</QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
  return root
}

import { QueryClient } from '@tanstack/react-query'
import { ApiError } from './errors.ts'

const passing = new Set(['unreachable', 'unavailable'])

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (failures, error) => failures < 2 && error instanceof ApiError && passing.has(error.code),
      retryDelay: (failures) => 500 * 2 ** failures,
      networkMode: 'always',
    },
    // What was sent and answered may hold tokens: it goes with the page that asked.
    mutations: { networkMode: 'always', gcTime: 0 },
  },
})

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
    // Variables and results of mutations may hold tokens, so drop them with their page.
    mutations: { networkMode: 'always', gcTime: 0 },
  },
})

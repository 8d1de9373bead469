import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { readReport, type Report } from './report.ts'
import { formatOf, upload, type Format } from './upload.ts'

export interface Chosen {
  readonly file: File
  readonly format: Format
}

export type Run = { readonly isDryRun: boolean } & (
  | { readonly kind: 'sending'; readonly part: number }
  /** Everything is sent; the service processes the last rows, or the response is being read. */
  | { readonly kind: 'finishing' }
  | { readonly kind: 'done'; readonly report: Report }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'stopped' }
)

export const isUnderWay = (run: Run | undefined): boolean =>
  run?.kind === 'sending' || run?.kind === 'finishing'

/** State of an import, from choosing the file to the result. */
export function useImport() {
  const queryClient = useQueryClient()
  const [chosen, setChosen] = useState<Chosen>()
  const [run, setRun] = useState<Run>()
  const underWay = useRef<AbortController>(undefined)
  useEffect(() => () => underWay.current?.abort(), [])

  const start = async ({ file, format }: Chosen, isDryRun: boolean) => {
    const { signal } = (underWay.current = new AbortController())
    setRun({ isDryRun, kind: 'sending', part: 0 })
    try {
      const response = await upload({
        file,
        format,
        isDryRun,
        signal,
        onProgress: (part) =>
          setRun(part < 1 ? { isDryRun, kind: 'sending', part } : { isDryRun, kind: 'finishing' }),
      })
      const report = await readReport(response)
      if (!signal.aborted) setRun({ isDryRun, kind: 'done', report })
    } catch (error) {
      setRun(signal.aborted ? { isDryRun, kind: 'stopped' } : { isDryRun, kind: 'failed', error })
    }
    if (!isDryRun) {
      for (const resource of ['user-groups', 'user-group', 'isolation-findings'])
        void queryClient.invalidateQueries({ queryKey: [resource] })
    }
  }

  return {
    chosen,
    run,
    choose: async (file: File) => {
      const format = await formatOf(file)
      setRun(undefined)
      setChosen({ file, format })
    },
    setFormat: (format: Format) => {
      setRun(undefined)
      setChosen((current) => current && { ...current, format })
    },
    start: (isDryRun: boolean) => {
      if (chosen !== undefined) void start(chosen, isDryRun)
    },
    stop: () => underWay.current?.abort(),
    clear: () => {
      setRun(undefined)
      setChosen(undefined)
    },
  }
}

export type Import = ReturnType<typeof useImport>

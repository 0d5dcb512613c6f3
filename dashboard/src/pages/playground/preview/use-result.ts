import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient } from '../../../api/session.ts'
import type { Delivered } from '../delivery.ts'
import { type RenderError, type Result, render } from './request.ts'

// Long enough to type a number, short enough to feel immediate.
const DELAY_MS = 250

/** What the preview shows. */
export interface Rendered {
  /** The last result. It stays while the next one is rendered, and after a failure. */
  result: Result | undefined
  error: RenderError | Error | null
  isRendering: boolean
  /** Progress of a job, from 0 to 1. Undefined: it waits, or there is none. */
  progress: number | undefined
  hasJob: boolean
  retry: () => void
}

/** Renders a file with these parameters, a moment after the last change. An outdated request is aborted. */
export function useResult(file: Delivered & { s3PathOriginal: string }, query: string): Rendered {
  const { client, sluice } = useClient()
  const settled = useDebounced(query, DELAY_MS)
  const [job, setJob] = useState<{ query: string; progress: number | undefined }>()
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [client.id, 'playground', file.s3PathOriginal, settled],
    queryFn: ({ signal }) =>
      render(sluice, {
        file,
        query: settled,
        signal,
        onProgress: (progress) => setJob({ query: settled, progress }),
      }),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    staleTime: 60_000,
    gcTime: 60_000,
  })
  const [last, setLast] = useState<Result>()
  if (data && data !== last) setLast(data)
  const hasJob = isFetching && job?.query === settled
  return {
    result: data ?? last,
    error,
    isRendering: isFetching || settled !== query,
    progress: hasJob ? job.progress : undefined,
    hasJob,
    retry: () => void refetch(),
  }
}

function useDebounced(value: string, ms: number): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), ms)
    return () => clearTimeout(timer)
  }, [value, ms])
  return settled
}

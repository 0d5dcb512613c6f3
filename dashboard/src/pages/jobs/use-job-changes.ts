import { useQueryClient } from '@tanstack/react-query'
import type { ListedJob } from '../../../../client/index.ts'
import { useClient } from '../../api/session.ts'
import { toast } from '../../ui/overlays/toast.tsx'
import { JOBS } from './texts.ts'

/** Retries and removes jobs, says so, and loads the lists again. */
export function useJobChanges(): {
  retry: (job: ListedJob) => Promise<void>
  cancel: (job: ListedJob) => Promise<void>
} {
  const { client, sluice } = useClient()
  const cache = useQueryClient()
  async function change(call: Promise<unknown>, text: string): Promise<void> {
    try {
      await call
      toast.success(text)
    } catch (error) {
      toast.failure(error)
    }
    await cache.invalidateQueries({ queryKey: [client.id, 'jobs'] })
  }
  return {
    retry: ({ id }) => change(sluice.jobs.retry(id), JOBS.retried),
    cancel: ({ id, state }) =>
      change(
        sluice.jobs.cancel(id),
        state === 'waiting' || state === 'active' ? JOBS.canceled : JOBS.removed,
      ),
  }
}

import { useQueryClient } from '@tanstack/react-query'
import { refreshLists, refreshRecords } from '../../../api/lists.ts'
import { useClient } from '../../../api/session.ts'
import { COMMON } from '../../../texts/common.ts'
import { toast } from '../../../ui/overlays/toast.tsx'

/** One entry of a report of several files. */
type Outcome = { status: string; detail?: string }

/**
 * Shows how many files failed, with the reason of the first one.
 *
 * @throws the same text if all files failed: the dialog shows it
 */
export function reportFailures(results: readonly Outcome[]): void {
  const failed = results.filter(({ status }) => status === 'error')
  if (failed.length === 0) return
  const text = COMMON.failed(failed.length, failed[0]?.detail ?? '')
  if (failed.length === results.length) throw new Error(text)
  toast.failure(text)
}

/** Loads all lists of files of the client again, and the file whose details are open. */
export function useRefresh(): () => Promise<void> {
  const queryClient = useQueryClient()
  const { client } = useClient()
  return async () => {
    await Promise.all([refreshLists(queryClient, client.id), refreshRecords(queryClient, client.id)])
  }
}

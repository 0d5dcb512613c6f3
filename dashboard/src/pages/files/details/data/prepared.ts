import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { ListedFile } from '../../../../../../client/index.ts'
import { reachable } from '../../../../api/base.ts'
import { useClient } from '../../../../api/session.ts'
import { publicUrls } from './delivery.ts'
import { fileQuery } from './file.ts'

/**
 * Renders derivatives of a video or audio file, which takes time, and then loads the file again: its list of derivatives names
 * their URLs.
 */
export function usePrepare(file: ListedFile, wanted: readonly string[]) {
  const chosen = useClient()
  const queryClient = useQueryClient()
  const [progress, setProgress] = useState(0)
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      setProgress(0)
      for (const url of await publicUrls(chosen.sluice, file, wanted)) {
        // A stored stream is a redirect, to the public address of the service.
        const response = await fetch(reachable(url), { redirect: 'manual' })
        if (response.ok || response.type === 'opaqueredirect') continue
        const problem = await response.json()
        if (response.status !== 423) throw new Error(problem.detail)
        await chosen.sluice.jobs.wait(reachable(problem.job), {
          onProgress: (job) => setProgress(job.progress),
        })
      }
      await queryClient.refetchQueries({
        queryKey: fileQuery(chosen, file.s3PathOriginal).queryKey,
        exact: true,
      })
    },
  })
  return { prepare: () => mutate(), progress, error, isPending }
}

import { useQuery } from '@tanstack/react-query'
import type { ListedJob } from '../../../../client/index.ts'
import { useClient } from '../../api/session.ts'
import { nameOfFile } from './job.ts'

/** The name with which the file of a job was uploaded. The last part of its key until it is loaded, and when it has no name. */
export function useFileName(job: Pick<ListedJob, 'file'>): string {
  const { client, sluice } = useClient()
  const { data } = useQuery({
    queryKey: [client.id, 'file-name', job.file],
    queryFn: async ({ signal }) => (await sluice.files.get(job.file, { signal })).originalName ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data || nameOfFile(job)
}

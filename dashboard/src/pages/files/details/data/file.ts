import { type QueryClient, queryOptions } from '@tanstack/react-query'
import type {
  FileInformation,
  FileWithDerivatives,
  ListedFile,
  SluiceClient,
} from '../../../../../../client/index.ts'
import { listsOf, refreshLists } from '../../../../api/lists.ts'
import { type ChosenClient, useClient } from '../../../../api/session.ts'
import { infoUrl } from './delivery.ts'

/** A file with its derivatives. */
export function fileQuery({ client, sluice }: ChosenClient, key: string) {
  return queryOptions({
    queryKey: [client.id, 'file', key],
    queryFn: ({ signal }) => sluice.files.get(key, { signal }),
  })
}

/** The properties of a file: its size in pixels, Exif tags, codecs. With the position of a photo. */
export function infoQuery({ client, sluice }: ChosenClient, file: ListedFile) {
  return queryOptions({
    queryKey: [client.id, 'file', file.s3PathOriginal, 'info'],
    queryFn: ({ signal }) => requestInfo(sluice, file, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

async function requestInfo(
  sluice: SluiceClient,
  file: ListedFile,
  signal: AbortSignal,
): Promise<FileInformation> {
  const response = await fetch(await infoUrl(sluice, file), { signal })
  const json = await response.json()
  if (!response.ok) throw new Error(json.detail ?? response.statusText)
  return json
}

/** The lists of files in the cache: pages, or pages of an endless list. */
interface CachedList {
  files?: ListedFile[]
  pages?: CachedList[]
}

function changedList(data: unknown, change: (files: ListedFile[]) => ListedFile[]): unknown {
  const list = (data ?? undefined) as CachedList | undefined
  if (Array.isArray(list?.files)) return { ...list, files: change(list.files) }
  if (Array.isArray(list?.pages))
    return { ...list, pages: list.pages.map((page) => changedList(page, change)) }
  return data
}

/** How the cache follows changes of a file. Lists are changed in place: a long one is not requested again. */
export interface FileCache {
  changed(file: FileWithDerivatives): void
  /** After a move or a delete. The lists are requested again when they are shown the next time. */
  removed(key: string): void
  /** After a copy, a move or a restoration: requests lists and folders again. */
  added(): void
}

export function useFileCache(queryClient: QueryClient): FileCache {
  const { client } = useClient()
  const lists = { queryKey: listsOf(client.id) }
  const change = (next: (files: ListedFile[]) => ListedFile[]) =>
    queryClient.setQueriesData(lists, (data: unknown) => changedList(data, next))
  return {
    changed(file) {
      queryClient.setQueryData([client.id, 'file', file.s3PathOriginal], file)
      change((files) =>
        files.map((other) => (other.s3PathOriginal === file.s3PathOriginal ? { ...other, ...file } : other)),
      )
    },
    removed(key) {
      change((files) => files.filter(({ s3PathOriginal }) => s3PathOriginal !== key))
      void queryClient.invalidateQueries({ ...lists, refetchType: 'none' })
    },
    added: () => void refreshLists(queryClient, client.id),
  }
}

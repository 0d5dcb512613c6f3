import { useRouterState } from '@tanstack/react-router'
import { useSyncExternalStore } from 'react'
import type { FolderFile } from '../../../client/uploader/queue/item.ts'

/** A wish to upload, from a button, a drop or a paste. */
export interface UploadRequest {
  clientId: string
  /** Where the files go: `photos/2026`. Empty: the top folder. Undefined: the folder that the page shows. */
  folder: string | undefined
  /** Already chosen files, with their place in a dropped folder. Empty: the panel lets the member choose. */
  files: ReadonlyArray<File | FolderFile>
}

let request: UploadRequest | undefined
const listeners = new Set<() => void>()

function change(next: UploadRequest | undefined): void {
  request = next
  for (const listener of listeners) listener()
}

/** Opens the upload panel. */
export function requestUpload(wish: {
  clientId: string
  folder?: string
  files?: UploadRequest['files']
}): void {
  const { clientId, folder, files = [] } = wish
  // The panel may still be loading, with an earlier wish.
  const earlier = request?.clientId === clientId && request.folder === folder ? request.files : []
  change({ clientId, folder, files: [...earlier, ...files] })
}

/** For the upload panel: it has received the wish. */
export function takeUploadRequest(): void {
  change(undefined)
}

/** The wish that the upload panel has not yet received. */
export function useUploadRequest(): UploadRequest | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => request,
  )
}

/** The folder that the page Files shows; empty for the top folder, and on other pages. */
export function useShownFolder(): string {
  return useRouterState({
    select: ({ matches }) => {
      const last = matches.at(-1)
      if (!last?.routeId.endsWith('/files/$')) return ''
      const { _splat = '' } = last.params as { _splat?: string }
      return _splat.replace(/^\/+|\/+$/g, '')
    },
  })
}

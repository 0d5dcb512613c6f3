import { FileQuestion } from 'lucide-react'
import type { ReactNode } from 'react'
import type { ListedFile } from '../../../../../../client/index.ts'
import { DETAILS } from '../texts.ts'

/** Shown instead of a preview: why there is none, and what can be done. */
export function NoPreview({
  file,
  error,
  children,
}: {
  file: ListedFile
  error?: unknown
  children?: ReactNode
}) {
  return (
    <div className="flex h-full flex-col items-center justify-center gap-2 px-6 text-center text-muted">
      <FileQuestion aria-hidden="true" className="size-10 text-faint" />
      <p className="max-w-sm text-sm first-letter:uppercase">
        {error instanceof Error ? error.message : DETAILS.noPreview(file.format.toUpperCase())}
      </p>
      {children}
    </div>
  )
}

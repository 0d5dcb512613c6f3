import { useState } from 'react'
import type { ListedFile } from '../../../../../../client/index.ts'
import { useDelivery } from '../data/delivery.ts'
import { NoPreview } from './no-preview.tsx'

/** The first page of an Office document, or the cover of a book. */
export function DocumentPreview({ file }: { file: ListedFile }) {
  const { urls, error } = useDelivery(file, ['w=1280&f=webp&wait=30'])
  const [isBroken, setBroken] = useState(false)
  if (error || isBroken) return <NoPreview file={file} error={error} />
  return (
    urls && (
      <div className="h-full overflow-auto p-4">
        <img
          src={urls[0]}
          alt={file.originalName}
          onError={() => setBroken(true)}
          className="mx-auto max-w-full shadow-raised"
        />
      </div>
    )
  )
}

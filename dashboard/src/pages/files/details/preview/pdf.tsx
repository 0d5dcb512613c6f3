import type { ListedFile } from '../../../../../../client/index.ts'
import { useDelivery } from '../data/delivery.ts'
import { NoPreview } from './no-preview.tsx'

/** A PDF in the viewer of the browser. */
export function PdfPreview({ file }: { file: ListedFile }) {
  const { urls, error } = useDelivery(file, [''])
  // Browsers of phones have no viewer.
  if (error || navigator.pdfViewerEnabled === false) return <NoPreview file={file} error={error} />
  return (
    urls && (
      <iframe
        src={`${urls[0]}#navpanes=0&view=FitH`}
        title={file.originalName}
        className="h-full w-full bg-surface"
      />
    )
  )
}

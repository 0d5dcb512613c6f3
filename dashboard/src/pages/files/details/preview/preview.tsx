import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { isOffice } from '../../../../api/pictured.ts'
import { AudioPlayer } from './audio.tsx'
import { DocumentPreview } from './document.tsx'
import { NoPreview } from './no-preview.tsx'
import { PdfPreview } from './pdf.tsx'
import { Picture } from './picture.tsx'
import { TextPreview } from './text.tsx'
import { VideoPlayer } from './video.tsx'

/** Shows or plays a file. */
export function Preview({ file }: { file: FileWithDerivatives }) {
  switch (file.mimeType) {
    case 'image':
      return <Picture file={file} />
    case 'video':
      return <VideoPlayer file={file} />
    case 'audio':
      return <AudioPlayer file={file} />
    case 'text':
      return <TextPreview file={file} />
    default:
      if (file.format === 'pdf') return <PdfPreview file={file} />
      if (file.format === 'epub' || isOffice(file)) return <DocumentPreview file={file} />
      return /[/+](json|xml|yaml)\b/.test(file.mediaType) ? (
        <TextPreview file={file} />
      ) : (
        <NoPreview file={file} />
      )
  }
}

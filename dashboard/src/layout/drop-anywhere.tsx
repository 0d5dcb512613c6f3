import { FolderInput } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { droppedFiles } from '../../../client/uploader/element/dropped.ts'
import { firstClient } from '../api/last-client.ts'
import { nameOf, useChosenClient, useMay, useSession } from '../api/session.ts'
import { UPLOAD } from '../texts/upload.ts'
import { toast } from '../ui/overlays/toast.tsx'
import { requestUpload, useShownFolder } from './uploads.ts'

/** Receives files that are dropped or pasted anywhere on the page, and shows where a drop would put them. */
export function DropAnywhere() {
  const { clients } = useSession()
  const client = useChosenClient() ?? firstClient(clients)
  const folder = useShownFolder()
  const mayUpload = useMay('editor')
  const [isOver, setOver] = useState(false)
  const clientId = mayUpload ? client?.id : undefined
  // Events of the window do not see a later render.
  const target = useRef({ clientId, folder })
  target.current = { clientId, folder }
  useEffect(() => {
    // The browser reports each element that the pointer enters and leaves.
    let depth = 0
    const end = () => {
      depth = 0
      setOver(false)
    }
    const isForUpload = (event: DragEvent) =>
      !event.defaultPrevented && target.current.clientId !== undefined && hasFiles(event.dataTransfer)
    const enter = (event: DragEvent) => {
      if (!isForUpload(event)) return
      depth += 1
      setOver(true)
    }
    const leave = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return
      depth -= 1
      if (depth <= 0) end()
    }
    const over = (event: DragEvent) => {
      if (!hasFiles(event.dataTransfer)) return
      const isAccepted = isForUpload(event)
      // Without it, the browser would open a dropped file instead of the page.
      event.preventDefault()
      if (event.dataTransfer && !isAccepted) event.dataTransfer.dropEffect = 'none'
      else if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy'
    }
    const drop = (event: DragEvent) => {
      end()
      if (!isForUpload(event) || !event.dataTransfer) return
      event.preventDefault()
      void receive(event.dataTransfer)
    }
    const receive = async (data: DataTransfer) => {
      const { clientId, folder } = target.current
      const files = await droppedFiles(data).catch(() => undefined)
      if (files === undefined) return toast.failure(UPLOAD.dropRefused)
      if (files.length === 0) return toast.info(UPLOAD.dropEmpty)
      if (clientId !== undefined) requestUpload({ clientId, folder, files })
    }
    const paste = ({ clipboardData, target: field }: ClipboardEvent) => {
      const { clientId, folder } = target.current
      const files = [...(clipboardData?.files ?? [])]
      if (files.length === 0 || clientId === undefined || isText(field, clipboardData)) return
      requestUpload({ clientId, folder, files: files.map(named) })
    }
    window.addEventListener('dragenter', enter)
    window.addEventListener('dragleave', leave)
    window.addEventListener('dragover', over)
    window.addEventListener('drop', drop)
    window.addEventListener('paste', paste)
    return () => {
      window.removeEventListener('dragenter', enter)
      window.removeEventListener('dragleave', leave)
      window.removeEventListener('dragover', over)
      window.removeEventListener('drop', drop)
      window.removeEventListener('paste', paste)
    }
  }, [])
  if (!isOver || !client) return null
  return (
    <div className="pointer-events-none fixed inset-0 z-60 animate-appear bg-overlay p-3">
      <div className="flex size-full items-center justify-center rounded-xl border-2 border-accent border-dashed">
        <div
          role="status"
          className="flex max-w-[calc(100vw-3rem)] flex-col items-center rounded-xl border border-line bg-raised px-8 py-6 text-center shadow-floating"
        >
          <FolderInput aria-hidden="true" className="mb-3 size-8 text-accent-ink" />
          <p className="font-semibold text-lg">{UPLOAD.dropTitle}</p>
          <p className="break-all text-muted">{UPLOAD.dropTo(nameOf(client), folder)}</p>
        </div>
      </div>
    </div>
  )
}

function hasFiles(data: DataTransfer | null): boolean {
  return data?.types.includes('Files') ?? false
}

/** A paste of text into a field. Word processors add a picture of the text. */
function isText(field: EventTarget | null, data: DataTransfer | null): boolean {
  const isField = field instanceof Element && field.closest('input, textarea, [contenteditable]') !== null
  return isField && (data?.types.includes('text/plain') ?? false)
}

/** Browsers name each picture of the clipboard `image.png`. */
function named(file: File): File {
  if (!/^image\.\w+$/.test(file.name)) return file
  const { type, lastModified } = file
  const time = new Date().toISOString().slice(0, 19).replace('T', ' ').replaceAll(':', '.')
  return new File([file], UPLOAD.pasted(time, file.name.slice(file.name.lastIndexOf('.'))), {
    type,
    lastModified,
  })
}

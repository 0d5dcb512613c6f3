import { clsx } from 'clsx'
import { File as FileIcon, FileText, Film, Image, Link2, Music } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { UploadItem } from '../queue/item.ts'

// Larger pictures take the browser too long to decode while it sends.
const PREVIEW_MAX_BYTES = 12_000_000
const SHOWN_TYPES = /^image\/(?:jpeg|png|webp|avif|gif)$/

function IconOf({ type, source }: Pick<UploadItem, 'type' | 'source'>) {
  if (source instanceof URL) return <Link2 />
  if (type.startsWith('image/')) return <Image />
  if (type.startsWith('video/')) return <Film />
  if (type.startsWith('audio/')) return <Music />
  return type.startsWith('text/') || type === 'application/pdf' ? <FileText /> : <FileIcon />
}

/** A small picture of the file on the computer of the member, or an icon for its type. */
export function Thumbnail({ item }: { item: UploadItem }) {
  const { source, type } = item
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const isShown = source instanceof File && source.size <= PREVIEW_MAX_BYTES && SHOWN_TYPES.test(type)
    if (!isShown) return undefined
    const created = URL.createObjectURL(source)
    setUrl(created)
    return () => {
      setUrl(undefined)
      URL.revokeObjectURL(created)
    }
  }, [source, type])
  return (
    <span
      aria-hidden="true"
      className={clsx(
        'flex size-9 shrink-0 items-center justify-center overflow-hidden rounded-md border border-line bg-sunken text-faint [&>svg]:size-4',
      )}
    >
      {url ? (
        <img
          src={url}
          alt=""
          decoding="async"
          className="size-full object-cover"
          onError={() => setUrl(undefined)}
        />
      ) : (
        <IconOf type={type} source={source} />
      )}
    </span>
  )
}

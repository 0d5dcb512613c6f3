import { useQuery } from '@tanstack/react-query'
import { clsx } from 'clsx'
import { AudioLines, File as FileIcon, FileText, Film, FolderClosed, Image } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { buildUrl, type ListedFile, thumbHashToDataUrl } from '../../../../../client/index.ts'
import { reachable } from '../../../api/base.ts'
import { ACCEPT, hasPage, isDrawn } from '../../../api/pictured.ts'
import { useClient } from '../../../api/session.ts'
import { signedSoon } from './sign-soon.ts'

const ICONS = { image: Image, video: Film, audio: AudioLines, text: FileText, application: FileIcon }
// A picture of the cache is there before.
const HASH_AFTER_MS = 300
// A tile that is scrolled past is gone before.
const SETTLED_AFTER_MS = 100
// A video is rendered by a job at its first request, and someone who scrolls through new pictures meets the rate limit.
const RETRY_AFTER_MS = [2000, 8000, 30_000]
// Pictures that the browser has probably in its cache.
const seen = new Set<string>()
const SEEN_MAX = 5000
// Keys of files without a picture, for example of encrypted documents. Each request for one is an error in the usage of the client.
const refused = new Set<string>()
const HAS_PICTURE = ['image', 'video']

export function FolderGlyph({ className }: { className?: string }) {
  return <FolderClosed aria-hidden="true" className={clsx('text-accent-ink', className)} />
}

/** The picture of a file, at most `width` CSS pixels wide, or the icon of its type. Decoration: the name is next to it. */
export function Thumbnail({
  file,
  width,
  isSmall = false,
}: {
  file: ListedFile
  width: number
  isSmall?: boolean
}) {
  const [state, setState] = useState<'loading' | 'shown' | 'failed'>('loading')
  const isPage = isSmall ? hasPage(file) : isDrawn(file)
  const hasPicture = isPage || HAS_PICTURE.includes(file.mimeType)
  const src = useThumbnailUrl(file, width, hasPicture)
  const isFailed = state === 'failed' || refused.has(file.s3PathOriginal)
  const hash = useThumbHash(
    file,
    file.mimeType === 'image' && file.srcExpires === undefined && state === 'loading' && !isSmall,
  )
  const Icon = ICONS[file.mimeType]
  return (
    <span
      aria-hidden="true"
      className="relative flex size-full items-center justify-center overflow-hidden rounded-[inherit]"
    >
      {(!hasPicture || isFailed || (file.mimeType !== 'image' && state === 'loading')) && (
        <span className="flex flex-col items-center gap-1.5 text-faint">
          <Icon className={isSmall ? 'size-4' : 'size-8'} strokeWidth={1.5} />
          {!isSmall && <span className="font-medium text-xs uppercase">{file.format}</span>}
        </span>
      )}
      {hash && state === 'loading' && (
        <img src={hash} alt="" className="absolute inset-0 size-full object-cover" />
      )}
      {hasPicture && src && !refused.has(file.s3PathOriginal) && (
        <Picture
          src={src}
          fileKey={file.s3PathOriginal}
          onLoad={() => setState('shown')}
          onError={() => setState('failed')}
          className={clsx(
            'absolute inset-0 size-full transition-opacity duration-150',
            isSmall || isPage ? 'object-cover' : 'object-contain',
            isPage && 'rounded-[inherit] border border-line object-top',
            state === 'shown' ? 'opacity-100' : 'opacity-0',
          )}
        />
      )}
    </span>
  )
}

/**
 * A picture that is requested when it was not scrolled past, and whose request ends when it is. It is requested again when the
 * service is busy.
 */
function Picture({
  src,
  fileKey,
  onLoad,
  onError,
  className,
}: {
  src: string
  fileKey: string
  onLoad: () => void
  onError: () => void
  className: string
}) {
  const picture = useRef<HTMLImageElement>(null)
  useEffect(() => {
    const element = picture.current
    if (!element) return undefined
    const request = () => {
      element.src = src
    }
    let timer = seen.has(src) ? undefined : setTimeout(request, SETTLED_AFTER_MS)
    if (timer === undefined) request()
    const waits = [...RETRY_AFTER_MS]
    const ended = new AbortController()
    const retry = () => {
      const wait = waits.shift()
      if (wait !== undefined) timer = setTimeout(() => void ask(), wait)
    }
    // A picture does not tell the status of its response.
    const ask = async () => {
      const { signal } = ended
      const status = await statusOf(src, signal).catch(() => 0)
      if (signal.aborted) return
      if (status === 200) request()
      else if (isBusy(status)) retry()
      else refused.add(fileKey)
    }
    element.addEventListener('error', retry)
    return () => {
      ended.abort()
      clearTimeout(timer)
      element.removeEventListener('error', retry)
      // Removed from the page alone, the element would continue to load.
      element.removeAttribute('src')
    }
  }, [src, fileKey])
  return (
    <img
      ref={picture}
      alt=""
      draggable={false}
      decoding="async"
      onLoad={() => {
        if (seen.size > SEEN_MAX) seen.clear()
        seen.add(src)
        onLoad()
      }}
      onError={onError}
      className={className}
    />
  )
}

async function statusOf(src: string, signal: AbortSignal): Promise<number> {
  const response = await fetch(src, { headers: { Accept: ACCEPT }, signal })
  // Read to its end, the picture is in the cache of the browser, and the connection is free.
  await response.arrayBuffer()
  return response.status
}

// A job, a limit, or a failure of the network or the service.
function isBusy(status: number): boolean {
  return status === 0 || status === 423 || status === 429 || status >= 500
}

/** A rendered picture in the density of the screen. Undefined until it is signed, for clients whose URLs need it. */
function useThumbnailUrl(file: ListedFile, width: number, isWanted: boolean): string | undefined {
  const { sluice, client } = useClient()
  // Few different sizes, so that few are rendered.
  const pixels = width * (devicePixelRatio > 1 ? 2 : 1)
  const plain = buildUrl(
    file,
    file.mimeType === 'video' ? `w=${pixels}&thumbnail=1` : { w: pixels, f: 'auto' },
  )
  // A signature covers the parameters.
  const isSigned = file.srcExpires !== undefined
  const { data } = useQuery({
    queryKey: [client.id, 'signed', plain],
    queryFn: () => signedSoon(sluice, plain),
    enabled: isSigned && isWanted,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const url = isSigned ? data : plain
  return url && isWanted ? reachable(url) : undefined
}

/** A blurred picture while the real one takes longer. */
function useThumbHash(file: ListedFile, isWanted: boolean): string | undefined {
  const { client } = useClient()
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    if (!isWanted) return undefined
    const timer = setTimeout(() => setLate(true), HASH_AFTER_MS)
    return () => clearTimeout(timer)
  }, [isWanted])
  const { data } = useQuery({
    queryKey: [client.id, 'thumb-hash', file.s3PathOriginal],
    queryFn: async ({ signal }) => {
      const url = reachable(file.src).replace(/(\/v1\/\w+)\/upload\//, '$1/info/')
      const response = await fetch(url, { signal })
      if (!response.ok) return null
      const { thumbHash } = (await response.json()) as { thumbHash?: string }
      return thumbHash ? thumbHashToDataUrl(thumbHash) : null
    },
    enabled: isWanted && isLate,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data ?? undefined
}

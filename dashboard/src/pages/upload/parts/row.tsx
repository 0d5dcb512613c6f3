import { Link } from '@tanstack/react-router'
import { CircleAlert, CircleCheck, Pause, Play, RotateCw, X } from 'lucide-react'
import { useEffect, useState } from 'react'
import { timeText } from '../../../../../client/uploader/element/format.ts'
import { useIsSignInNeeded } from '../../../api/sign-in-gate.ts'
import { UPLOAD } from '../../../texts/upload.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { formatBytes } from '../../../ui/format.ts'
import { toast } from '../../../ui/overlays/toast.tsx'
import { Progress } from '../../../ui/progress.tsx'
import { adviceOf, isRetryable } from '../advice.ts'
import { pickFiles } from '../pick-files.ts'
import { isSameUpload, newItem, type UploadItem } from '../queue/item.ts'
import type { UploadQueue } from '../queue/queue.ts'
import { Thumbnail } from './thumbnail.tsx'

/** One upload of the list. */
export function Row({ item, queue }: { item: UploadItem; queue: UploadQueue }) {
  const { name, folder, status, size, sentBytes } = item
  const isPartial = status === 'uploading' || (status === 'paused' && sentBytes > 0)
  return (
    <div className="flex items-center gap-3 px-4 py-2">
      <Thumbnail item={item} />
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline gap-2">
          <Name item={item} />
          {folder !== '' && (
            <span className="min-w-0 max-w-[45%] shrink truncate text-faint text-xs" title={folder}>
              {folder}
            </span>
          )}
        </div>
        {isPartial && (
          <Progress
            className="my-1"
            value={size === undefined ? undefined : size === 0 ? 1 : Math.min(1, sentBytes / size)}
            label={UPLOAD.progress(name)}
          />
        )}
        <State item={item} />
      </div>
      <Actions item={item} queue={queue} />
    </div>
  )
}

function Name({ item: { name, clientId, record, folder } }: { item: UploadItem }) {
  const look = 'min-w-0 shrink truncate font-medium text-sm'
  if (!record)
    return (
      <span className={look} title={name}>
        {name}
      </span>
    )
  return (
    <Link
      to="/c/$clientId/files/$"
      params={{ clientId, _splat: folder }}
      // The search parameter of the page Files that shows the details of a file.
      search={{ file: record.s3PathOriginal } as never}
      className={`${look} hover:underline`}
      title={name}
    >
      {name}
    </Link>
  )
}

function State({ item }: { item: UploadItem }) {
  const { status, size, sentBytes, source, error, busyUntil, record } = item
  const isSignInNeeded = useIsSignInNeeded()
  const total = formatBytes(size ?? record?.size ?? 0)
  if (status === 'failed' && error)
    return (
      <p className="flex gap-1 text-danger-ink text-xs">
        <CircleAlert aria-hidden="true" className="mt-0.5 size-3 shrink-0" />
        {adviceOf(error)}
      </p>
    )
  if (status === 'interrupted') return <p className="text-warning-ink text-xs">{UPLOAD.interrupted}</p>
  if (status === 'done')
    return (
      <p className="flex items-center gap-1 text-muted text-xs">
        <CircleCheck aria-hidden="true" className="size-3 text-success-ink" />
        {UPLOAD.done}, {total}
      </p>
    )
  if (busyUntil !== undefined) return <Busy until={busyUntil} />
  const texts = {
    waiting: size === undefined ? UPLOAD.waiting : `${UPLOAD.waiting}, ${total}`,
    // A refused request has sent its bytes.
    storing: isSignInNeeded ? UPLOAD.signIn : UPLOAD.storing,
    paused: UPLOAD.paused(UPLOAD.ofBytes(formatBytes(sentBytes), total)),
    uploading:
      source instanceof URL
        ? UPLOAD.fetching
        : isSignInNeeded
          ? UPLOAD.signIn
          : UPLOAD.ofBytes(formatBytes(sentBytes), total),
  }
  return <p className="text-muted text-xs tabular-nums">{texts[status as keyof typeof texts]}</p>
}

function Busy({ until }: { until: number }) {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  return (
    <p className="text-warning-ink text-xs tabular-nums">
      {UPLOAD.busy(timeText((until - now) / 1000, UPLOAD))}
    </p>
  )
}

function Actions({ item, queue }: { item: UploadItem; queue: UploadQueue }) {
  const { id, name, status, record, source } = item
  const canPause = (status === 'uploading' || status === 'waiting') && !(source instanceof URL)
  const isEnded = status === 'done' || status === 'failed'
  return (
    <div className="flex shrink-0 items-center">
      {status === 'interrupted' && (
        <Button size="small" onClick={() => void chooseAgain(item, queue)}>
          {UPLOAD.chooseAgain}
        </Button>
      )}
      {canPause && (
        <IconButton size="small" label={UPLOAD.pause(name)} onClick={() => queue.pause(id)}>
          <Pause aria-hidden="true" />
        </IconButton>
      )}
      {status === 'paused' && (
        <IconButton size="small" label={UPLOAD.resume(name)} onClick={() => queue.resume(id)}>
          <Play aria-hidden="true" />
        </IconButton>
      )}
      {isRetryable(item) && (
        <IconButton size="small" label={UPLOAD.retry(name)} onClick={() => queue.retry(id)}>
          <RotateCw aria-hidden="true" />
        </IconButton>
      )}
      {record && <CopyButton size="small" text={record.src} label={UPLOAD.copyUrl(name)} />}
      <IconButton
        size="small"
        label={isEnded ? UPLOAD.forget(name) : UPLOAD.cancel(name)}
        onClick={() => queue.remove(id)}
      >
        <X aria-hidden="true" />
      </IconButton>
    </div>
  )
}

/** Continues an upload whose file the browser has not retained. Only the same file can continue. */
async function chooseAgain(item: UploadItem, queue: UploadQueue): Promise<void> {
  const [chosen] = await pickFiles('one')
  if (!chosen) return
  const { clientId, folder, name } = item
  const upload = { clientId, folder, source: chosen.file }
  if (isSameUpload(newItem(upload), item)) queue.add([upload])
  else toast.failure(UPLOAD.otherFile(name))
}

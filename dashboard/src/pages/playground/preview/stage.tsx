import { clsx } from 'clsx'
import { useEffect, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../client/index.ts'
import { COMMON } from '../../../texts/common.ts'
import { Button } from '../../../ui/button.tsx'
import { Progress } from '../../../ui/progress.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { ErrorState, Notice } from '../../../ui/states.tsx'
import type { Change } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'
import { Compare } from './compare.tsx'
import { Media } from './media.tsx'
import { RenderError } from './request.ts'
import type { Original } from './use-original.ts'
import type { Rendered } from './use-result.ts'

/** The same height for all views, so that nothing moves. */
export const STAGE = 'flex h-60 items-center justify-center sm:h-[min(58vh,34rem)] sm:min-h-64'

/** Pixels of a result, as the browser has measured them. */
export interface Size {
  width: number
  height: number
}

/** The place of the result: a picture, the comparison, a player, an error, or the progress of a job. */
export function Stage({
  rendered,
  picture,
  compared,
  change,
  onSize,
}: {
  rendered: Rendered
  /** The URL of the result, if it is a picture. */
  picture: string | undefined
  /** The URL of the original, to compare with. */
  compared: string | undefined
  change: Change
  onSize: (size: Size) => void
}) {
  const { result, error, isRendering } = rendered
  const isFaded = result && (isRendering || error)
  return (
    <div className="relative bg-sunken">
      <div className={clsx(STAGE, isFaded && 'opacity-50 transition-opacity delay-200')}>
        {result ? (
          picture && compared ? (
            <Compare before={compared} after={picture} />
          ) : picture ? (
            <div className="flex size-full items-center justify-center p-3">
              <img
                src={picture}
                alt={PLAYGROUND.result}
                onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
                  onSize({ width, height })
                }
                className="checkered max-h-full max-w-full object-contain"
              />
            </div>
          ) : (
            <Media result={result} onSize={onSize} />
          )
        ) : error ? null : (
          <Skeleton className="m-3 h-[calc(100%-1.5rem)] w-full" />
        )}
      </div>
      {error && <Failure rendered={rendered} change={change} />}
      {rendered.hasJob && <JobProgress progress={rendered.progress} />}
    </div>
  )
}

/** The original of a video or of audio. */
export function OriginalMedia({ file, original }: { file: FileWithDerivatives; original: Original }) {
  return (
    <div className="bg-sunken">
      <div className={STAGE}>
        {original.url ? (
          <Media
            result={{ mediaType: `${file.mimeType}/${file.format}`, url: original.url }}
            label={PLAYGROUND.original}
          />
        ) : (
          <Skeleton className="m-3 h-[calc(100%-1.5rem)] w-full" />
        )}
      </div>
    </div>
  )
}

/** Why there is no result. The last result remains visible behind it. */
function Failure({ rendered: { result, error, retry }, change }: { rendered: Rendered; change: Change }) {
  const isRefused = error instanceof RenderError && error.status === 400
  const param = error instanceof RenderError ? error.param : undefined
  const remove = isRefused && param !== undefined && (
    <Button size="small" className="shrink-0" onClick={() => change({ [param]: undefined })}>
      {PLAYGROUND.clear(param)}
    </Button>
  )
  if (result) {
    return (
      <div className="absolute inset-x-3 top-3 rounded-md bg-raised shadow-floating">
        <Notice tone="danger">
          <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-2">
            <span className="min-w-0 flex-1 basis-52 break-words">{error?.message}</span>
            {remove || (
              <Button size="small" className="shrink-0" onClick={retry}>
                {COMMON.retry}
              </Button>
            )}
          </div>
        </Notice>
      </div>
    )
  }
  return (
    <div className="absolute inset-0 flex flex-col items-center justify-center overflow-y-auto bg-surface">
      <ErrorState
        error={error}
        title={isRefused ? PLAYGROUND.refused : PLAYGROUND.failed}
        className="py-0!"
        {...(!isRefused && { onRetry: retry })}
      />
      {remove && <div className="mt-4">{remove}</div>}
    </div>
  )
}

function JobProgress({ progress }: { progress: number | undefined }) {
  const percent = Math.round((progress ?? 0) * 100)
  return (
    <div className="absolute inset-x-3 bottom-3 mx-auto max-w-lg rounded-lg border border-line bg-raised p-3 shadow-floating">
      <p className="mb-2 text-sm tabular-nums">
        {progress === undefined ? PLAYGROUND.jobWaiting : PLAYGROUND.jobRunning(percent)}
      </p>
      <Progress value={progress} label={PLAYGROUND.jobProgress} />
    </div>
  )
}

/** A URL of these bytes, for an element of the page. */
export function useObjectUrl(blob: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!blob) return setUrl(undefined)
    const created = URL.createObjectURL(blob)
    setUrl(created)
    // Another picture replaces it in the same frame, but a comparison may still decode this one.
    return () => void setTimeout(() => URL.revokeObjectURL(created), 1000)
  }, [blob])
  return url
}

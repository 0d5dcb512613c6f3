import { clsx } from 'clsx'
import { useEffect, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../client/index.ts'
import { PLAYGROUND } from '../../../texts/playground.ts'
import { Segmented } from '../../../ui/forms/choices.tsx'
import { Card } from '../../../ui/page.tsx'
import { Progress } from '../../../ui/progress.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { ErrorState, Notice } from '../../../ui/states.tsx'
import type { Parameter } from '../catalog.ts'
import type { Change, Values } from '../state.ts'
import { Compare } from './compare.tsx'
import { Facts } from './facts.tsx'
import { Media } from './media.tsx'
import { PictureTools } from './picture-tools.tsx'
import { useOriginal } from './use-original.ts'
import type { Rendered } from './use-result.ts'

type View = 'result' | 'compare' | 'original'

// The same height for all views, so that nothing moves.
const STAGE = 'flex h-[min(58vh,34rem)] min-h-64 items-center justify-center'

interface Props {
  file: FileWithDerivatives
  rendered: Rendered
  parameters: readonly Parameter[]
  values: Values
  change: Change
}

/** The result, the comparison with the original, and the original with the tools for crop and focal point. */
export function Preview({ file, rendered, parameters, values, change }: Props) {
  const [view, setView] = useState<View>('result')
  const { result, error, isRendering } = rendered
  const original = useOriginal(file)
  const picture = useObjectUrl(result?.mediaType.startsWith('image/') ? result.blob : undefined)
  const [size, setSize] = useState<{ url: string; width: number; height: number }>()
  const isPicture = file.mimeType === 'image'
  const canCompare = isPicture && picture !== undefined && original.url !== undefined
  const shown = view === 'compare' && !canCompare ? 'result' : view
  return (
    <Card isFlush className="order-1 min-w-0">
      <h2 className="sr-only">{PLAYGROUND.preview}</h2>
      <div className="flex h-12 items-center justify-between gap-3 border-line border-b px-3">
        {isPicture ? (
          <Segmented
            label={PLAYGROUND.view}
            value={shown}
            onChange={setView}
            options={[
              { value: 'result', label: PLAYGROUND.result },
              { value: 'compare', label: PLAYGROUND.compare },
              { value: 'original', label: PLAYGROUND.original },
            ]}
          />
        ) : (
          <span className="font-medium text-sm">{PLAYGROUND.result}</span>
        )}
        <span role="status" className="text-muted text-sm">
          {isRendering && (
            <span className="inline-flex items-center gap-2">
              <span className="size-2 animate-pulse rounded-full bg-accent" />
              {PLAYGROUND.rendering}
            </span>
          )}
        </span>
      </div>
      {shown === 'original' ? (
        <PictureTools
          original={original}
          parameters={parameters}
          values={values}
          change={change}
          stage={STAGE}
        />
      ) : (
        <div className="checkered relative">
          <div className={clsx(STAGE, isRendering && result && 'opacity-70 transition-opacity delay-200')}>
            {result ? (
              shown === 'compare' && picture && original.url ? (
                <Compare before={original.url} after={picture} />
              ) : picture ? (
                <img
                  src={picture}
                  alt={PLAYGROUND.result}
                  onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
                    setSize({ url: picture, width: naturalWidth, height: naturalHeight })
                  }
                  className="max-h-full max-w-full object-contain p-3"
                />
              ) : (
                <Media result={result} />
              )
            ) : error ? (
              <span />
            ) : (
              <Skeleton className="m-3 h-[calc(100%-1.5rem)] w-full" />
            )}
          </div>
          {error && <Failure rendered={rendered} />}
          {rendered.hasJob && <JobProgress progress={rendered.progress} />}
        </div>
      )}
      <Facts original={file} rendered={rendered} size={size && size.url === picture ? size : undefined} />
    </Card>
  )
}

function Failure({ rendered: { result, error, retry } }: { rendered: Rendered }) {
  const isRefused = error !== null && 'status' in error && error.status === 400
  // The last result remains visible behind a refused value.
  if (result || isRefused) {
    return (
      <div className="absolute inset-x-3 top-3">
        <Notice tone="danger">{error?.message}</Notice>
      </div>
    )
  }
  return (
    <div className="absolute inset-0 bg-surface">
      <ErrorState error={error} title={PLAYGROUND.failed} onRetry={retry} />
    </div>
  )
}

function JobProgress({ progress }: { progress: number | undefined }) {
  const percent = Math.round((progress ?? 0) * 100)
  return (
    <div className="absolute inset-x-3 bottom-3 rounded-lg border border-line bg-raised p-3 shadow-floating">
      <p className="mb-2 text-sm">
        {progress === undefined ? PLAYGROUND.jobWaiting : PLAYGROUND.jobRunning(percent)}
      </p>
      <Progress value={progress} label={PLAYGROUND.jobProgress} />
    </div>
  )
}

function useObjectUrl(blob: Blob | undefined): string | undefined {
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

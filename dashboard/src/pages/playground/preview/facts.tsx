import type { ReactNode } from 'react'
import { formatBytes, formatPercent } from '../../../ui/format.ts'
import { PLAYGROUND } from '../texts.ts'
import type { Rendered } from './use-result.ts'

/** Size, saved bytes, time, format and dimensions of the result. */
export function Facts({
  original,
  rendered: { result: last, error, isRendering },
  size,
}: {
  original: { size: number }
  rendered: Rendered
  size: { width: number; height: number } | undefined
}) {
  // The result of other parameters says nothing about these.
  const result = error ? undefined : last
  const bytes = result?.bytes
  const saved = bytes === undefined ? undefined : original.size - bytes
  return (
    <div className="@container border-line border-t" aria-busy={isRendering}>
      <dl className="grid grid-cols-3 gap-px bg-line @xl:auto-cols-fr @xl:grid-flow-col @xl:grid-cols-none">
        <Fact name={PLAYGROUND.size} value={bytes === undefined ? undefined : formatBytes(bytes)}>
          {PLAYGROUND.ofOriginal(formatBytes(original.size))}
        </Fact>
        <Fact
          name={saved !== undefined && saved < 0 ? PLAYGROUND.larger : PLAYGROUND.saved}
          value={saved === undefined ? undefined : formatBytes(Math.abs(saved))}
          tone={saved === undefined || saved === 0 ? '' : saved > 0 ? 'text-success-ink' : 'text-warning-ink'}
        >
          {saved !== undefined && original.size > 0 && formatPercent(Math.abs(saved) / original.size)}
        </Fact>
        <Fact
          name={PLAYGROUND.time}
          value={
            result &&
            (result.ms < 10_000 ? PLAYGROUND.milliseconds(result.ms) : PLAYGROUND.seconds(result.ms / 1000))
          }
        >
          {result?.hadJob && PLAYGROUND.withJob}
        </Fact>
        <Fact name={PLAYGROUND.format} value={result && shortType(result.mediaType)} />
        {!result?.mediaType.startsWith('audio/') && (
          <Fact
            name={PLAYGROUND.dimensions}
            value={result && size && PLAYGROUND.pixels(size.width, size.height)}
          />
        )}
      </dl>
      {result?.note && (
        <p className="border-line border-t px-3 py-2 text-muted text-xs">
          {PLAYGROUND.transformed}: <code className="font-mono">{result.note}</code>
        </p>
      )}
    </div>
  )
}

function Fact({
  name,
  value,
  tone = '',
  children,
}: {
  name: string
  value: string | undefined
  tone?: string
  children?: ReactNode
}) {
  return (
    <div className="bg-surface px-3 py-1.5 last:col-span-2 last:nth-4:col-span-3 sm:py-2.5 sm:last:col-span-1!">
      <dt className="text-muted text-xs">{name}</dt>
      <dd className={`font-semibold tabular-nums ${tone}`}>{value ?? '–'}</dd>
      <dd className="text-faint sm:min-h-4 text-xs tabular-nums">{value !== undefined && children}</dd>
    </div>
  )
}

/** `image/svg+xml` → `SVG+XML`. */
function shortType(mediaType: string): string {
  return mediaType.replace(/^.*\/(?:x-|vnd\.)?/, '').toUpperCase()
}

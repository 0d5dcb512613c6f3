import { useQuery } from '@tanstack/react-query'
import { Pause, Play, Volume2, VolumeX } from 'lucide-react'
import { useRef } from 'react'
import type { FileWithDerivatives, SluiceClient } from '../../../../../../client/index.ts'
import { reachable } from '../../../../api/base.ts'
import { useClient } from '../../../../api/session.ts'
import { IconButton } from '../../../../ui/button.tsx'
import { Skeleton } from '../../../../ui/skeleton.tsx'
import { useDelivery } from '../data/delivery.ts'
import { DETAILS } from '../texts.ts'
import { NoPreview } from './no-preview.tsx'
import { formatSeconds } from './time.ts'
import { useMedia } from './use-media.ts'
import { outlineOf, type Waveform } from './waveform.ts'

/** Plays audio. A click on its waveform plays from there. */
export function AudioPlayer({ file }: { file: FileWithDerivatives }) {
  const { client, sluice } = useClient()
  const audio = useRef<HTMLAudioElement>(null)
  const media = useMedia(audio)
  const { urls, error } = useDelivery(file, ['', 'waveform&w=400&wait=20'])
  const { data: waveform, error: noWaveform } = useQuery({
    queryKey: [client.id, 'file', file.s3PathOriginal, 'waveform'],
    queryFn: ({ signal }) => requestWaveform(sluice, urls?.[1] ?? '', signal),
    enabled: urls !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <NoPreview file={file} error={error} />
  const share = media.duration > 0 ? media.time / media.duration : 0
  const outline = waveform && outlineOf(waveform)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a player is no fieldset
    <div className="flex h-full flex-col justify-center gap-3 px-5" role="group" aria-label={DETAILS.player}>
      {/* biome-ignore lint/a11y/useMediaCaption: the service has no subtitles */}
      <audio ref={audio} src={urls?.[0]} preload="metadata" />
      <div className="relative h-24 rounded-md focus-within:outline-2 focus-within:outline-accent focus-within:outline-offset-2">
        {waveform && outline ? (
          <svg
            data-testid="waveform"
            aria-hidden="true"
            viewBox={`0 0 ${waveform.length} 2`}
            preserveAspectRatio="none"
            className="h-full w-full"
          >
            <path d={outline} className="fill-line-strong" />
            <path
              d={outline}
              className="fill-accent"
              style={{ clipPath: `inset(0 ${100 * (1 - share)}% 0 0)` }}
            />
          </svg>
        ) : noWaveform ? (
          <p className="flex h-full items-center justify-center text-muted text-sm">{noWaveform.message}</p>
        ) : (
          <Skeleton className="h-full" />
        )}
        <input
          type="range"
          aria-label={DETAILS.position}
          aria-valuetext={`${formatSeconds(media.time)} / ${formatSeconds(media.duration)}`}
          min={0}
          max={media.duration || 1}
          step={0.1}
          value={media.time}
          onChange={({ target }) => media.seek(Number(target.value))}
          className="absolute inset-0 w-full cursor-pointer opacity-0"
        />
      </div>
      <div className="flex items-center gap-2">
        <IconButton
          look="primary"
          label={media.isPlaying ? DETAILS.pause : DETAILS.play}
          onClick={media.toggle}
        >
          {media.isPlaying ? <Pause /> : <Play />}
        </IconButton>
        <span className="flex-1 text-muted text-sm tabular-nums">
          {formatSeconds(media.time)} / {formatSeconds(media.duration)}
        </span>
        <IconButton label={media.isMuted ? DETAILS.unmute : DETAILS.mute} onClick={media.toggleMuted}>
          {media.isMuted ? <VolumeX /> : <Volume2 />}
        </IconButton>
      </div>
    </div>
  )
}

async function requestWaveform(sluice: SluiceClient, url: string, signal: AbortSignal): Promise<Waveform> {
  for (let attempt = 0; ; attempt += 1) {
    const response = await fetch(url, { signal })
    const json = await response.json()
    if (response.ok) return json
    if (response.status !== 423 || attempt > 0) throw new Error(json.detail)
    await sluice.jobs.wait(reachable(json.job), { signal })
  }
}

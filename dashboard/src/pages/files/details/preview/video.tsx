import { useQuery } from '@tanstack/react-query'
import { Maximize, Pause, Play, Volume2, VolumeX } from 'lucide-react'
import { type KeyboardEvent, useRef, useState } from 'react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { reachable } from '../../../../api/base.ts'
import { useClient } from '../../../../api/session.ts'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { Segmented } from '../../../../ui/forms/choices.tsx'
import { Progress } from '../../../../ui/progress.tsx'
import { useDelivery } from '../data/delivery.ts'
import { usePrepare } from '../data/prepared.ts'
import { DETAILS } from '../texts.ts'
import { NoPreview } from './no-preview.tsx'
import { SeekBar } from './seek-bar.tsx'
import { parseStoryboard } from './storyboard.ts'
import { formatSeconds } from './time.ts'
import { useMedia } from './use-media.ts'
import { useStream } from './use-stream.ts'

/** Plays the uploaded video, or its stream, whose rendering the member begins. */
export function VideoPlayer({ file }: { file: FileWithDerivatives }) {
  const { client } = useClient()
  const video = useRef<HTMLVideoElement>(null)
  const derivative = (ending: string) =>
    file.derivatives.find(({ key, state }) => state === 'stored' && key === `${file.s3PathOriginal}${ending}`)
      ?.src
  const stream = derivative('_hls/master.m3u8')
  const cues = derivative('_storyboard/storyboard.vtt')
  const [source, setSource] = useState<'original' | 'stream'>(stream ? 'stream' : 'original')
  const [isUnplayable, setUnplayable] = useState(false)
  const { urls, error } = useDelivery(file, ['', 'thumbnail&w=1280'])
  const streamed = source === 'stream' && stream !== undefined
  const media = useMedia(video, streamed ? 'stream' : 'original')
  const failure = useStream(video, streamed ? reachable(stream) : undefined)
  const { prepare, progress, error: notPrepared, isPending } = usePrepare(file, ['storyboard', 'hls'])
  const { data: storyboard } = useQuery({
    queryKey: [client.id, 'file', file.s3PathOriginal, 'storyboard', cues],
    queryFn: async ({ signal }) => {
      const url = reachable(cues ?? '')
      return parseStoryboard(await (await fetch(url, { signal })).text(), url) ?? null
    },
    enabled: cues !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error) return <NoPreview file={file} error={error} />
  const choose = (next: 'original' | 'stream') => {
    setUnplayable(false)
    setSource(next)
    if (next === 'stream' && !stream) prepare()
  }
  function onKeyDown(event: KeyboardEvent): void {
    const isButton = event.target instanceof HTMLButtonElement
    if ((event.key === ' ' && !isButton) || event.key === 'k') media.toggle()
    else if (event.key === 'm') media.toggleMuted()
    else return
    event.preventDefault()
  }
  const isHidden = isUnplayable || (source === 'stream' && !stream)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a player is no fieldset
    <div
      className="flex h-full flex-col bg-sunken"
      role="group"
      aria-label={DETAILS.player}
      onKeyDown={onKeyDown}
    >
      <div className="relative min-h-0 flex-1">
        <video
          ref={video}
          key={streamed ? 'stream' : 'original'}
          {...(!streamed && { src: urls?.[0] })}
          poster={urls?.[1]}
          preload="metadata"
          playsInline
          onClick={media.toggle}
          onError={() => !streamed && setUnplayable(true)}
          className={isHidden ? 'invisible' : 'h-full w-full object-contain'}
        />
        {isHidden && (
          <div className="absolute inset-0 overflow-auto">
            {isPending ? (
              <div className="flex h-full flex-col items-center justify-center gap-3 px-8">
                <p className="text-muted text-sm">{DETAILS.streamInProgress}</p>
                <div className="w-full max-w-64">
                  <Progress value={progress} label={DETAILS.streamInProgress} />
                </div>
              </div>
            ) : (
              <NoPreview file={file} error={notPrepared ?? new Error(DETAILS.unplayable)}>
                <Button onClick={() => choose('stream')}>{DETAILS.playStream}</Button>
              </NoPreview>
            )}
          </div>
        )}
        {failure && streamed && (
          <p
            role="alert"
            className="absolute inset-x-0 top-0 bg-danger-soft p-2 text-center text-danger-ink text-sm"
          >
            {DETAILS.streamFailed(failure)}
          </p>
        )}
      </div>
      <div className="border-line border-t bg-surface px-3 pb-1">
        <SeekBar
          time={media.time}
          duration={media.duration}
          onSeek={media.seek}
          storyboard={storyboard ?? undefined}
        />
        <div className="flex items-center gap-1">
          <IconButton
            label={media.isPlaying ? DETAILS.pause : DETAILS.play}
            onClick={media.toggle}
            disabled={isHidden}
          >
            {media.isPlaying ? <Pause /> : <Play />}
          </IconButton>
          <span className="flex-1 text-muted text-xs tabular-nums">
            {formatSeconds(media.time)} / {formatSeconds(media.duration)}
          </span>
          <IconButton label={media.isMuted ? DETAILS.unmute : DETAILS.mute} onClick={media.toggleMuted}>
            {media.isMuted ? <VolumeX /> : <Volume2 />}
          </IconButton>
          <IconButton label={DETAILS.fullScreen} onClick={() => void video.current?.requestFullscreen?.()}>
            <Maximize />
          </IconButton>
          <Segmented
            label={DETAILS.videoSource}
            value={source}
            onChange={choose}
            options={[
              { value: 'original', label: DETAILS.original },
              { value: 'stream', label: DETAILS.stream },
            ]}
          />
        </div>
      </div>
    </div>
  )
}

import { ExternalLink } from 'lucide-react'
import { type SyntheticEvent, useEffect, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { PLAYGROUND } from '../texts.ts'
import { Playlist } from './playlist.tsx'
import { isPlaylist, type Result } from './request.ts'

type VideoEvent = SyntheticEvent<HTMLVideoElement>

/** A result that is no picture: a player, a text, or a link. */
export function Media({
  result,
  label = PLAYGROUND.video,
  onSize,
}: {
  result: Pick<Result, 'mediaType' | 'url'> & Partial<Pick<Result, 'blob'>>
  /** The name of a video. */
  label?: string
  /** The size of a video in pixels. A stream changes it while it is played. */
  onSize?: (size: { width: number; height: number }) => void
}) {
  const { mediaType, url } = result
  const measure = ({ currentTarget: { videoWidth: width, videoHeight: height } }: VideoEvent) => {
    if (width > 0) onSize?.({ width, height })
  }
  const shared = {
    controls: true,
    playsInline: true,
    'aria-label': label,
    onLoadedMetadata: measure,
    onResize: measure,
    className: 'size-full bg-black',
  }
  if (isPlaylist(mediaType)) return <Playlist key={url} url={url} {...shared} />
  if (mediaType.startsWith('video/')) {
    return <video key={url} src={url} {...shared} />
  }
  if (mediaType.startsWith('audio/')) {
    return (
      // biome-ignore lint/a11y/useMediaCaption: the file has no captions
      <audio key={url} src={url} controls aria-label={PLAYGROUND.audio} className="w-full max-w-lg px-4" />
    )
  }
  if (/^text\/|json$/.test(mediaType) && result.blob) return <Text blob={result.blob} />
  return (
    <div className="p-6 text-center text-muted">
      <p className="mb-3">{PLAYGROUND.noPreview}</p>
      <Button asChild>
        <a href={url} target="_blank" rel="noreferrer">
          <ExternalLink aria-hidden="true" className="size-4" />
          {PLAYGROUND.open}
        </a>
      </Button>
    </div>
  )
}

// A storyboard or waveform of a long file has many lines.
const TEXT_MAX = 20_000

function Text({ blob }: { blob: Blob }) {
  const [text, setText] = useState('')
  useEffect(() => {
    let isCurrent = true
    void blob
      .slice(0, TEXT_MAX)
      .text()
      .then((read) => isCurrent && setText(read))
    return () => {
      isCurrent = false
    }
  }, [blob])
  return (
    // biome-ignore lint/a11y/useSemanticElements: white space matters in it
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled area must be reachable by keyboard
      tabIndex={0}
      aria-label={PLAYGROUND.text}
      role="region"
      className="size-full overflow-auto whitespace-pre-wrap break-all bg-surface p-4 font-mono text-xs"
    >
      {text}
    </pre>
  )
}

import { ExternalLink } from 'lucide-react'
import { useEffect, useState } from 'react'
import { PLAYGROUND } from '../../../texts/playground.ts'
import { Button } from '../../../ui/button.tsx'
import { Playlist } from './playlist.tsx'
import { isPlaylist, type Result } from './request.ts'

/** A result that is no picture: a player, a text, or a link. */
export function Media({ result }: { result: Result }) {
  const { mediaType, url } = result
  if (isPlaylist(mediaType)) return <Playlist key={url} url={url} />
  if (mediaType.startsWith('video/')) {
    return (
      // biome-ignore lint/a11y/useMediaCaption: the file has no captions
      <video key={url} src={url} controls playsInline aria-label={PLAYGROUND.video} className="size-full" />
    )
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

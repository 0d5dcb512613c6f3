import { type ComponentPropsWithoutRef, useEffect, useRef, useState } from 'react'
import { Notice } from '../../../ui/states.tsx'
import { PLAYGROUND } from '../texts.ts'

/** A player for HLS, also in browsers that know it only with a library. It shows why a stream cannot be played. */
export function Playlist({ url, ...others }: { url: string } & ComponentPropsWithoutRef<'video'>) {
  const video = useRef<HTMLVideoElement>(null)
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    const element = video.current
    if (!element) return undefined
    let isEnded = false
    let end = () => {}
    setFailure(undefined)
    // The library is large, and few results are playlists.
    void import('hls.js/light').then(
      ({ default: Hls }) => {
        if (isEnded) return
        if (!Hls.isSupported()) {
          element.src = url
          return
        }
        const hls = new Hls()
        hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && setFailure(details))
        hls.loadSource(url)
        hls.attachMedia(element)
        end = () => hls.destroy()
      },
      (error: unknown) => setFailure(String(error)),
    )
    return () => {
      isEnded = true
      end()
    }
  }, [url])
  return (
    <div className="relative size-full">
      <video ref={video} {...others} />
      {failure !== undefined && (
        <div className="absolute inset-x-0 top-0">
          <Notice tone="danger">{PLAYGROUND.streamFailed(failure)}</Notice>
        </div>
      )}
    </div>
  )
}

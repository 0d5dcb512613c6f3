import { type RefObject, useEffect, useState } from 'react'

const HLS_TYPE = 'application/vnd.apple.mpegurl'

/** Plays a stream (HLS) in a video element: by hls.js, which is loaded now, or by the browser itself. */
export function useStream(video: RefObject<HTMLVideoElement | null>, url: string | undefined) {
  const [failure, setFailure] = useState<string>()
  useEffect(() => {
    const element = video.current
    if (!element || url === undefined) return undefined
    let isEnded = false
    let end = () => {}
    setFailure(undefined)
    void import('hls.js/light')
      .then(({ default: Hls }) => {
        if (isEnded) return
        if (!Hls.isSupported()) {
          if (element.canPlayType(HLS_TYPE)) element.src = url
          return
        }
        const hls = new Hls({ capLevelToPlayerSize: true })
        hls.on(Hls.Events.ERROR, (_, { fatal, details }) => fatal && setFailure(details))
        hls.loadSource(url)
        hls.attachMedia(element)
        end = () => hls.destroy()
      })
      .catch((error: unknown) => setFailure(String(error)))
    return () => {
      isEnded = true
      end()
    }
  }, [video, url])
  return failure
}

import { type ComponentPropsWithoutRef, useEffect, useRef } from 'react'
import { toast } from '../../../ui/overlays/toast.tsx'

/** A player for HLS, also in browsers that know it only with a library. */
export function Playlist({ url, ...others }: { url: string } & ComponentPropsWithoutRef<'video'>) {
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const element = video.current
    if (!element) return undefined
    let isEnded = false
    let end = () => {}
    // The library is large, and few results are playlists.
    void import('hls.js/light').then(({ default: Hls }) => {
      if (isEnded) return
      if (!Hls.isSupported()) {
        element.src = url
        return
      }
      const hls = new Hls()
      hls.loadSource(url)
      hls.attachMedia(element)
      end = () => hls.destroy()
    }, toast.failure)
    return () => {
      isEnded = true
      end()
    }
  }, [url])
  return <video ref={video} {...others} />
}

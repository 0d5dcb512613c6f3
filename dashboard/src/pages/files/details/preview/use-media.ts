import { type RefObject, useEffect, useState } from 'react'

/** What a player shows of a video or audio element. Times in seconds. */
export interface MediaState {
  isPlaying: boolean
  time: number
  duration: number
  isMuted: boolean
}

const EVENTS = [
  'play',
  'pause',
  'ended',
  'timeupdate',
  'seeking',
  'durationchange',
  'volumechange',
  'loadedmetadata',
]

/** Follows a video or audio element, and controls it. `source` changes when the element is replaced. */
export function useMedia(media: RefObject<HTMLMediaElement | null>, source = '') {
  const [state, setState] = useState<MediaState>({ isPlaying: false, time: 0, duration: 0, isMuted: false })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new source is a new element
  useEffect(() => {
    const element = media.current
    if (!element) return undefined
    const read = () =>
      setState({
        isPlaying: !element.paused && !element.ended,
        time: element.currentTime,
        duration: Number.isFinite(element.duration) ? element.duration : 0,
        isMuted: element.muted,
      })
    for (const event of EVENTS) element.addEventListener(event, read)
    return () => {
      for (const event of EVENTS) element.removeEventListener(event, read)
    }
  }, [media, source])
  return {
    ...state,
    toggle() {
      const element = media.current
      if (element?.paused) void element.play().catch(() => {})
      else element?.pause()
    },
    seek(time: number) {
      if (media.current) media.current.currentTime = time
    },
    toggleMuted() {
      if (media.current) media.current.muted = !media.current.muted
    },
  }
}

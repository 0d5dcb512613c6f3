import { type CSSProperties, type PointerEvent, useState } from 'react'
import { DETAILS } from '../texts.ts'
import type { Storyboard } from './storyboard.ts'
import { formatSeconds } from './time.ts'

/** Where a video is, and where it could be: with the image of that moment, if there is a storyboard. */
export function SeekBar({
  time,
  duration,
  onSeek,
  storyboard,
}: {
  time: number
  duration: number
  onSeek: (time: number) => void
  storyboard: Storyboard | undefined
}) {
  const [hovered, setHovered] = useState<number>()
  const share = duration > 0 ? time / duration : 0
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent<HTMLElement>) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    setHovered(Math.min(1, Math.max(0, (clientX - left) / width)))
  }
  const tile =
    hovered === undefined
      ? undefined
      : storyboard?.tiles.find(({ from, to }) => hovered * duration >= from && hovered * duration < to)
  return (
    <div className="relative flex h-7 items-center">
      <input
        type="range"
        aria-label={DETAILS.position}
        aria-valuetext={`${formatSeconds(time)} / ${formatSeconds(duration)}`}
        min={0}
        max={duration || 1}
        step={0.1}
        value={time}
        onChange={({ target }) => onSeek(Number(target.value))}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setHovered(undefined)}
        className="seek-bar w-full"
        style={{ '--share': `${100 * share}%` } as CSSProperties}
      />
      {hovered !== undefined && duration > 0 && (
        <span
          aria-hidden="true"
          className="pointer-events-none absolute bottom-full z-10 mb-1 flex -translate-x-1/2 flex-col items-center overflow-hidden rounded-md border border-line bg-raised text-xs shadow-floating"
          style={{ left: `clamp(3rem, ${100 * hovered}%, calc(100% - 3rem))` }}
        >
          {storyboard && tile && (
            <span
              data-testid="storyboard-tile"
              style={{
                width: tile.width,
                height: tile.height,
                background: `url(${storyboard.sprite}) -${tile.x}px -${tile.y}px no-repeat`,
              }}
            />
          )}
          <span className="px-2 py-0.5 tabular-nums">{formatSeconds(hovered * duration)}</span>
        </span>
      )}
    </div>
  )
}

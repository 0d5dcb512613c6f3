import { useState } from 'react'
import { PLAYGROUND } from '../texts.ts'

/** Two pictures over each other, with a boundary to drag. */
export function Compare({ before, after }: { before: string; after: string }) {
  const [percent, setPercent] = useState(50)
  const picture = 'absolute inset-0 size-full object-contain p-3'
  return (
    <div className="relative size-full touch-none select-none overflow-hidden">
      {/* Each is clipped: a transparent one must not show the other one. */}
      <img
        src={after}
        alt={PLAYGROUND.after}
        className={picture}
        style={{ clipPath: `inset(0 0 0 ${percent}%)` }}
      />
      <img
        src={before}
        alt={PLAYGROUND.before}
        className={picture}
        style={{ clipPath: `inset(0 ${100 - percent}% 0 0)` }}
      />
      <span className="absolute top-3 left-3 rounded-md bg-black/70 px-2 py-0.5 text-white text-xs">
        {PLAYGROUND.before}
      </span>
      <span className="absolute top-3 right-3 rounded-md bg-black/70 px-2 py-0.5 text-white text-xs">
        {PLAYGROUND.after}
      </span>
      {/* A native slider: pointer, touch, keyboard and screen readers at once. Its thumb is drawn below. */}
      <input
        type="range"
        min={0}
        max={100}
        step={0.5}
        value={percent}
        onChange={({ target }) => setPercent(Number(target.value))}
        aria-label={PLAYGROUND.compareSlider}
        className="peer absolute inset-0 size-full cursor-ew-resize opacity-0"
      />
      <span
        aria-hidden="true"
        style={{ left: `${percent}%` }}
        className="pointer-events-none absolute inset-y-0 -ml-px w-0.5 bg-white shadow-floating outline-accent peer-focus-visible:outline-2"
      >
        <span className="absolute top-1/2 left-1/2 flex size-8 -translate-x-1/2 -translate-y-1/2 items-center justify-center rounded-full bg-white text-black text-sm shadow-floating">
          ↔
        </span>
      </span>
    </div>
  )
}

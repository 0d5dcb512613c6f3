import { clsx } from 'clsx'
import type { ReactNode } from 'react'

const TONES = {
  neutral: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent-ink',
  success: 'bg-success-soft text-success-ink',
  warning: 'bg-warning-soft text-warning-ink',
  danger: 'bg-danger-soft text-danger-ink',
}

export type Tone = keyof typeof TONES

/** A short state or count. */
export function Badge({
  tone = 'neutral',
  icon,
  className,
  children,
}: {
  tone?: Tone
  icon?: ReactNode
  className?: string
  children: ReactNode
}) {
  return (
    <span
      className={clsx(
        'inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-full px-2 font-medium text-xs [&>svg]:size-3',
        TONES[tone],
        className,
      )}
    >
      {icon}
      {children}
    </span>
  )
}

/** A coloured dot before a text, for states in lists. The text next to it has to name the state. */
export function Dot({ tone }: { tone: Tone }) {
  const colours = {
    neutral: 'bg-faint',
    accent: 'bg-accent',
    success: 'bg-success-ink',
    warning: 'bg-warning-ink',
    danger: 'bg-danger',
  }
  return (
    <span aria-hidden="true" className={clsx('inline-block size-2 shrink-0 rounded-full', colours[tone])} />
  )
}

/** Keys of a shortcut: `['⌘', 'K']`. */
export function Keys({ keys, isInverted = false }: { keys: readonly string[]; isInverted?: boolean }) {
  return (
    <span className="inline-flex gap-0.5">
      {keys.map((key) => (
        <kbd
          key={key}
          className={clsx(
            'inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-sm px-1 font-sans text-xs',
            isInverted ? 'bg-bg/20 text-bg' : 'border border-line bg-surface text-muted',
          )}
        >
          {key}
        </kbd>
      ))}
    </span>
  )
}

/** The initials of a person, or the first letters of a client. Decoration: the name is next to it. */
export function Avatar({ name, isSquare = false }: { name: string; isSquare?: boolean }) {
  const words = name
    .trim()
    .split(/[\s._-]+/)
    .filter(Boolean)
  const initials = words.length > 1 ? `${words[0]?.[0] ?? ''}${words[1]?.[0] ?? ''}` : name.slice(0, 2)
  return (
    <span
      aria-hidden="true"
      className={clsx(
        'inline-flex size-6 shrink-0 items-center justify-center bg-accent-soft font-semibold text-[0.625rem] text-accent-ink uppercase',
        isSquare ? 'rounded-md' : 'rounded-full',
      )}
    >
      {initials}
    </span>
  )
}

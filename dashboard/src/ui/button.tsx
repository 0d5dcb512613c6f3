import * as Slot from '@radix-ui/react-slot'
import { clsx } from 'clsx'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps, ReactNode } from 'react'
import { Tooltip } from './overlays/tooltip.tsx'

const LOOKS = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover font-medium',
  secondary:
    'bg-surface text-ink border border-line shadow-raised hover:bg-hover active:bg-pressed font-medium',
  quiet: 'text-muted hover:bg-hover hover:text-ink active:bg-pressed',
  danger: 'bg-danger text-on-danger hover:bg-danger-hover font-medium',
}
// A finger needs 40 px.
const SIZES = {
  small: 'h-7 pointer-coarse:h-10 px-2 gap-1.5 text-sm',
  medium: 'h-8 pointer-coarse:h-10 px-3 gap-1.5 text-sm',
  large: 'h-10 px-4 gap-2 text-base',
}
const ICON_SIZES = {
  small: 'size-7 pointer-coarse:size-10',
  medium: 'size-8 pointer-coarse:size-10',
  large: 'size-10',
}
const BASE =
  'relative inline-flex shrink-0 pointer-coarse:min-w-10 select-none items-center justify-center whitespace-nowrap rounded-md transition-colors disabled:pointer-events-none disabled:opacity-50'

export interface ButtonProps extends ComponentProps<'button'> {
  look?: keyof typeof LOOKS
  size?: keyof typeof SIZES
  /** Shown before the text. */
  icon?: ReactNode
  /** Shows a spinner, and ignores clicks. The button stays as wide as it is. */
  isBusy?: boolean
  /** Applies the looks to the only child, for example a link. */
  asChild?: boolean
}

/** A button. Its type is `button`, unless it is given. */
export function Button({
  look = 'secondary',
  size = 'medium',
  icon,
  isBusy = false,
  asChild = false,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  const classes = clsx(BASE, LOOKS[look], SIZES[size], className)
  if (asChild)
    return (
      <Slot.Root className={classes} {...rest}>
        {children}
      </Slot.Root>
    )
  return (
    <button
      type="button"
      className={classes}
      disabled={disabled || isBusy}
      aria-busy={isBusy || undefined}
      {...rest}
    >
      {isBusy && (
        <LoaderCircle aria-hidden="true" className={clsx('size-4 animate-spin', !icon && 'absolute')} />
      )}
      {!isBusy && icon}
      {/* Without an icon, the spinner covers the text: screen readers still read it. */}
      {isBusy && !icon ? <span className="opacity-0">{children}</span> : children}
    </button>
  )
}

export interface IconButtonProps extends Omit<ButtonProps, 'icon' | 'children'> {
  /** The name for screen readers, shown as a tooltip. */
  label: string
  /** Shown in the tooltip, for example `['G', 'F']`. */
  shortcut?: readonly string[]
  children: ReactNode
}

/** A square button with an icon only. */
export function IconButton({
  label,
  shortcut,
  look = 'quiet',
  size = 'medium',
  className,
  isBusy = false,
  asChild: _asChild,
  children,
  disabled,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip text={label} {...(shortcut && { shortcut })}>
      <button
        type="button"
        aria-label={label}
        disabled={disabled || isBusy}
        className={clsx(BASE, LOOKS[look], ICON_SIZES[size], '[&>svg]:size-4', className)}
        {...rest}
      >
        {isBusy ? <LoaderCircle aria-hidden="true" className="animate-spin" /> : children}
      </button>
    </Tooltip>
  )
}

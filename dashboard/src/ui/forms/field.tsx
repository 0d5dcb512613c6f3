import { clsx } from 'clsx'
import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, cloneElement, type ReactElement, type ReactNode, useId, useState } from 'react'
import { COMMON } from '../../texts/common.ts'

// On touch screens, iOS enlarges the page for a field whose text is smaller than 16 px.
export const CONTROL =
  'control rounded-md pointer-coarse:min-h-10 pointer-coarse:text-lg border border-line-strong/60 bg-surface px-2.5 text-ink text-base transition-colors hover:border-line-strong focus-visible:border-accent disabled:opacity-60 aria-[invalid=true]:border-danger'

interface ControlProps {
  id?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}

/** A labelled control, with a hint or an error below it. The only child is the control. */
export function Field({
  label,
  hint,
  error,
  isLabelHidden = false,
  optional = false,
  className,
  children,
}: {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  isLabelHidden?: boolean
  optional?: boolean
  className?: string
  children: ReactElement<ControlProps>
}) {
  const own = useId()
  const id = children.props.id ?? own
  const described = error || hint ? `${id}-note` : undefined
  return (
    <div className={clsx('flex flex-col gap-1.5', className)}>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'font-medium text-sm'}>
        {label}
        {optional && <span className="font-normal text-faint"> {COMMON.optional}</span>}
      </label>
      {cloneElement(children, {
        id,
        ...(described && { 'aria-describedby': described }),
        ...(error && { 'aria-invalid': true }),
      })}
      {described && (
        <p
          id={described}
          className={clsx('text-sm', error ? 'text-danger-ink' : 'text-muted')}
          {...(error && { role: 'alert' })}
        >
          {error || hint}
        </p>
      )}
    </div>
  )
}

/** A text field of one line. */
export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={clsx(CONTROL, 'h-9', className)} {...rest} />
}

/** A text field of several lines. */
export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={clsx(CONTROL, 'min-h-20 py-2', className)} {...rest} />
}

/** A password, which can be shown. */
export function PasswordInput({ className, ...rest }: ComponentProps<'input'>) {
  const [isShown, setShown] = useState(false)
  const Icon = isShown ? EyeOff : Eye
  return (
    <div className="relative">
      <input
        className={clsx(CONTROL, 'h-9 pr-10', className)}
        {...rest}
        type={isShown ? 'text' : 'password'}
      />
      <button
        type="button"
        aria-label={isShown ? COMMON.hidePassword : COMMON.showPassword}
        aria-pressed={isShown}
        onClick={() => setShown(!isShown)}
        className="absolute inset-y-0 right-0 flex w-9 items-center justify-center rounded-md pointer-coarse:w-10 text-muted hover:text-ink"
      >
        <Icon aria-hidden="true" className="size-4" />
      </button>
    </div>
  )
}

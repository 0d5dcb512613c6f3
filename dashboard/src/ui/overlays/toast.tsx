import { Toaster as Sonner, toast as sonner } from 'sonner'
import { COMMON } from '../../texts/common.ts'
import { useTheme } from '../theme.ts'

interface ToastOptions {
  description?: string
  /** Shows a button "Undo". A rejection is shown as a toast of its own. */
  undo?: () => Promise<unknown>
  /** Shows another button. */
  action?: { label: string; onSelect: () => void }
}

function buttonOf({ undo, action }: ToastOptions) {
  if (undo) return { label: COMMON.undo, onClick: () => void undo().catch(toast.failure) }
  return action && { label: action.label, onClick: action.onSelect }
}

function settings(options: ToastOptions) {
  const action = buttonOf(options)
  return {
    duration: action ? 10_000 : 5_000,
    ...(options.description && { description: options.description }),
    ...(action && { action }),
  }
}

/** Short messages about what has just happened. They vanish by themselves, so they must not be the only place of a fact. */
export const toast = {
  success: (text: string, options: ToastOptions = {}) => sonner.success(text, settings(options)),
  info: (text: string, options: ToastOptions = {}) => sonner(text, settings(options)),
  /** An error of a call, as the service describes it. */
  failure: (error: unknown) =>
    sonner.error(error instanceof Error ? error.message : String(error), { duration: 10_000 }),
}

/** The place of toasts. Once, in the root of the pages. */
export function Toaster() {
  const { isDark } = useTheme()
  return (
    <Sonner
      theme={isDark ? 'dark' : 'light'}
      position="bottom-right"
      containerAriaLabel={COMMON.notifications}
      toastOptions={{
        classNames: {
          toast: '!rounded-lg !border-line !bg-raised !text-ink !shadow-floating !font-sans !text-sm',
          description: '!text-muted',
          actionButton: '!bg-accent !text-on-accent !h-7 !rounded-md !font-medium',
          success: '[&_[data-icon]]:!text-success-ink',
          error: '[&_[data-icon]]:!text-danger-ink',
        },
      }}
    />
  )
}

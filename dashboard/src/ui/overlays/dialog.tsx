import * as Radix from '@radix-ui/react-dialog'
import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { COMMON } from '../../texts/common.ts'
import { Button } from '../button.tsx'

const WIDTHS = { small: 'max-w-sm', medium: 'max-w-lg', large: 'max-w-3xl' }

export interface DialogProps {
  isOpen: boolean
  onClose: () => void
  title: ReactNode
  /** Under the title. Read to users of screen readers when the dialog opens. */
  description?: ReactNode
  size?: keyof typeof WIDTHS
  /** Buttons below the content. */
  actions?: ReactNode
  /** Whether a click outside and Escape leave it open, for example while something is sent. */
  isModalOnly?: boolean
  children?: ReactNode
}

/** A window over the page. It takes the focus, and gives it back when it closes. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  size = 'medium',
  actions,
  isModalOnly,
  children,
}: DialogProps) {
  const keep = (event: Event) => isModalOnly && event.preventDefault()
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-overlay" />
        <Radix.Content
          // The menu that opened it takes the focus away from a field with `autoFocus`.
          onOpenAutoFocus={focusField}
          onEscapeKeyDown={keep}
          onPointerDownOutside={keep}
          {...(!description && { 'aria-describedby': undefined })}
          className={clsx(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col',
            'animate-appear overflow-hidden rounded-xl border border-line bg-raised shadow-floating focus:outline-none',
            WIDTHS[size],
          )}
        >
          <header className="flex items-start gap-4 px-5 pt-5 pb-2">
            <div className="min-w-0 flex-1">
              <Radix.Title className="font-semibold text-lg">{title}</Radix.Title>
              {description && (
                <Radix.Description className="mt-1 text-pretty text-muted">{description}</Radix.Description>
              )}
            </div>
            {!isModalOnly && (
              <Radix.Close asChild>
                <button
                  type="button"
                  aria-label={COMMON.close}
                  className="-mt-1 -mr-2 rounded-md p-2 pointer-coarse:-mt-2 pointer-coarse:p-3 text-muted hover:bg-hover hover:text-ink"
                >
                  <X aria-hidden="true" className="size-4" />
                </button>
              </Radix.Close>
            )}
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-2 pb-5">{children}</div>
          {actions && (
            <footer className="flex flex-wrap justify-end gap-2 border-line border-t bg-surface px-5 py-3">
              {actions}
            </footer>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function focusField(event: Event): void {
  const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>('input, textarea')
  if (!field) return
  event.preventDefault()
  field.focus()
}

/** Asks before something that cannot be undone. For what can be undone, act at once and show a toast with `undo`. */
export function ConfirmDialog({
  isOpen,
  onClose,
  title,
  description,
  action,
  onConfirm,
  look = 'danger',
  children,
}: Pick<DialogProps, 'isOpen' | 'onClose' | 'title' | 'description' | 'children'> & {
  /** The text of the button: a verb, for example "Delete client". */
  action: string
  /** The dialog closes when the promise resolves, and shows why it rejects. */
  onConfirm: () => Promise<unknown>
  look?: 'danger' | 'primary'
}) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const confirm = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await onConfirm()
      onClose()
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={title}
      description={description}
      size="small"
      // A failure must have a place to appear.
      isModalOnly={isBusy}
      actions={
        <>
          <Button onClick={onClose} disabled={isBusy}>
            {COMMON.cancel}
          </Button>
          <Button
            look={look}
            isBusy={isBusy}
            onClick={({ currentTarget }) => {
              // The button that has the focus is disabled now.
              currentTarget.closest<HTMLElement>('[role="dialog"]')?.focus()
              void confirm()
            }}
          >
            {action}
          </Button>
        </>
      }
    >
      {children}
      {failure && (
        <p role="alert" className="mt-2 text-danger-ink">
          {failure}
        </p>
      )}
    </Dialog>
  )
}

/** A panel at the edge of the page, for navigation on phones and for details. */
export function Drawer({
  isOpen,
  onClose,
  title,
  side = 'end',
  isTitleHidden = false,
  children,
}: {
  isOpen: boolean
  onClose: () => void
  title: string
  side?: 'start' | 'end'
  isTitleHidden?: boolean
  children: ReactNode
}) {
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-overlay" />
        <Radix.Content
          aria-describedby={undefined}
          className={clsx(
            'fixed inset-y-0 z-50 flex flex-col border-line bg-raised shadow-floating focus:outline-none',
            side === 'start' && 'left-0 w-[min(18rem,85vw)] animate-slide border-r',
            side === 'end' && 'right-0 w-[min(32rem,100vw)] animate-slide-end border-l',
          )}
        >
          <Radix.Title
            className={isTitleHidden ? 'sr-only' : 'border-line border-b px-5 py-4 font-semibold text-lg'}
          >
            {title}
          </Radix.Title>
          <Radix.Close asChild>
            <button
              type="button"
              aria-label={COMMON.close}
              className="absolute top-3 right-3 z-10 rounded-md p-2 pointer-coarse:top-2 pointer-coarse:right-2 pointer-coarse:p-3 text-muted hover:bg-hover hover:text-ink"
            >
              <X aria-hidden="true" className="size-4" />
            </button>
          </Radix.Close>
          <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

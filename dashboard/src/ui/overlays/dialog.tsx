import * as Radix from '@radix-ui/react-dialog'
import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { type ReactNode, useId, useState } from 'react'
import { COMMON } from '../../texts/common.ts'
import { Button } from '../button.tsx'
import { Form } from '../forms/form.tsx'
import { Notice } from '../states.tsx'

const WIDTHS = { small: 'max-w-sm', medium: 'max-w-lg', large: 'max-w-3xl' }

interface DialogProps {
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
            {!isModalOnly && <CloseButton className="-mt-1 -mr-2 pointer-coarse:-mt-2" />}
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

// Radix adds a hidden input to each checkbox of a form.
function focusField(event: Event): void {
  const field = (event.currentTarget as HTMLElement).querySelector<HTMLElement>(
    'input:not([aria-hidden]), textarea',
  )
  if (!field) return
  event.preventDefault()
  field.focus()
}

interface FormDialogProps extends Omit<DialogProps, 'isOpen' | 'actions' | 'isModalOnly' | 'children'> {
  /** The text of the button that sends: a verb, for example "Create client". */
  action: string
  look?: 'danger' | 'primary'
  /** Whether the dialog still loads what it needs. */
  isLoading?: boolean
  /** Whether it cannot be sent as it is. */
  isDisabled?: boolean
  /** Whether it can be closed while it sends, for what may take minutes. */
  isClosable?: boolean
  /** Whether the fields show by themselves what is wrong, instead of the browser. */
  noValidate?: boolean
  /**
   * The dialog closes when the promise resolves. When it rejects, the dialog shows the reason until a field changes. False: the
   * fields show what is wrong, and nothing is sent.
   */
  onSubmit: () => Promise<unknown> | false
  /** The field that shows an error of `onSubmit`. Undefined: it is shown below the fields. */
  fieldOf?: ((error: Error) => string | undefined) | undefined
  /** The fields. `errorAt` has the message that a field must show. */
  children?: ReactNode | ((errorAt: (field: string) => string | undefined) => ReactNode)
}

/** A dialog with fields, a button to cancel, and one that sends. Enter in a field sends, too. */
export function FormDialog({
  action,
  look = 'primary',
  isLoading = false,
  isDisabled = false,
  isClosable = false,
  noValidate = false,
  onSubmit,
  fieldOf,
  children,
  ...dialog
}: FormDialogProps) {
  const form = useId()
  const [isSending, setSending] = useState(false)
  const [error, setError] = useState<Error>()
  const isBusy = isSending || isLoading
  const isModalOnly = isBusy && !isClosable
  const field = error && fieldOf?.(error)

  async function send(): Promise<void> {
    const sent = onSubmit()
    if (sent === false) return
    // The button is disabled while it sends, and would lose the focus to the page below.
    const { activeElement } = document
    if (activeElement instanceof HTMLButtonElement)
      activeElement.closest<HTMLElement>('[role="dialog"]')?.focus()
    setSending(true)
    setError(undefined)
    try {
      await sent
      dialog.onClose()
    } catch (reason) {
      setError(reason instanceof Error ? reason : new Error(String(reason)))
    } finally {
      setSending(false)
    }
  }
  return (
    <Dialog
      isOpen
      {...dialog}
      isModalOnly={isModalOnly}
      actions={
        <>
          <Button onClick={dialog.onClose} disabled={isModalOnly}>
            {COMMON.cancel}
          </Button>
          <Button type="submit" form={form} look={look} isBusy={isBusy} disabled={isDisabled}>
            {action}
          </Button>
        </>
      }
    >
      <Form id={form} noValidate={noValidate} onSubmit={send} onChange={() => setError(undefined)}>
        {typeof children === 'function'
          ? children((name) => (name === field ? error?.message : undefined))
          : children}
        {error && field === undefined && <Notice tone="danger">{error.message}</Notice>}
      </Form>
    </Dialog>
  )
}

/** Asks before something that cannot be undone. For what can be undone, act at once and show a toast with `undo`. */
export function ConfirmDialog({
  isOpen = true,
  onConfirm,
  ...dialog
}: Pick<FormDialogProps, 'onClose' | 'title' | 'description' | 'action' | 'look'> & {
  isOpen?: boolean
  /** The dialog closes when the promise resolves, and shows why it rejects. */
  onConfirm: () => Promise<unknown>
  children?: ReactNode
}) {
  return isOpen && <FormDialog size="small" look="danger" {...dialog} onSubmit={onConfirm} />
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
          <CloseButton className="absolute top-3 right-3 z-10 pointer-coarse:top-2 pointer-coarse:right-2" />
          <div className="min-h-0 flex-1 overflow-y-auto">{children}</div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function CloseButton({ className }: { className: string }) {
  return (
    <Radix.Close asChild>
      <button
        type="button"
        aria-label={COMMON.close}
        className={clsx(
          'rounded-md p-2 pointer-coarse:p-3 text-muted hover:bg-hover hover:text-ink',
          className,
        )}
      >
        <X aria-hidden="true" className="size-4" />
      </button>
    </Radix.Close>
  )
}

import { type ReactNode, useId } from 'react'
import { COMMON } from '../../texts/common.ts'
import { Button } from '../button.tsx'
import { Form } from '../forms/form.tsx'
import { Notice } from '../states.tsx'
import { Dialog, type DialogProps } from './dialog.tsx'

/** A dialog with fields, a button to cancel, and one that sends. Enter in a field sends, too. */
export function FormDialog({
  action,
  look = 'primary',
  isBusy = false,
  isDisabled = false,
  isModalOnly = isBusy,
  error,
  noValidate,
  onSubmit,
  children,
  ...dialog
}: Omit<DialogProps, 'isOpen' | 'actions'> & {
  /** The text of the button that sends: a verb, for example "Create client". */
  action: string
  look?: 'danger' | 'primary'
  isBusy?: boolean
  /** Whether it cannot be sent as it is. */
  isDisabled?: boolean
  /** Why it could not be sent, unless a field shows that. */
  error?: ReactNode
  /** Whether the fields show by themselves what is wrong, instead of the browser. */
  noValidate?: boolean
  onSubmit: () => unknown
}) {
  const form = useId()
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
      <Form id={form} noValidate={noValidate ?? false} onSubmit={onSubmit}>
        {children}
        {error && <Notice tone="danger">{error}</Notice>}
      </Form>
    </Dialog>
  )
}

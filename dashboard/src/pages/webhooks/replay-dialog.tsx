import { useState } from 'react'
import { Checkbox } from '../../ui/forms/choices.tsx'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { filterOf, type Scope, type Selection } from './data.ts'
import { WEBHOOKS } from './texts.ts'

/** Sends the selected deliveries that have failed again, and also those that wait for their next attempt if it is chosen. */
export function ReplayDialog({
  scope,
  selection,
  onClose,
  onReplayed,
}: {
  scope: Scope
  selection: Selection
  onClose: () => void
  onReplayed: () => Promise<void>
}) {
  const [withPending, setWithPending] = useState(false)
  const replay = async () => {
    const report = { replayed: 0, skipped: 0 }
    // Pending first: a replayed delivery is pending too.
    for (const status of withPending ? (['pending', 'failed'] as const) : (['failed'] as const)) {
      const { replayed, skipped } = await scope.webhooks.replayAll({ ...filterOf(selection), status })
      report.replayed += replayed
      report.skipped += skipped
    }
    const description = report.skipped > 0 ? { description: WEBHOOKS.skipped(report.skipped) } : {}
    toast.success(WEBHOOKS.replayed(report.replayed), description)
    await onReplayed()
  }
  return (
    <ConfirmDialog
      look="primary"
      onClose={onClose}
      title={WEBHOOKS.replayFailedTitle}
      description={WEBHOOKS.replayFailedText(WEBHOOKS.periods[selection.period])}
      action={WEBHOOKS.replay}
      onConfirm={replay}
    >
      <Checkbox
        label={WEBHOOKS.withPending}
        description={WEBHOOKS.withPendingText}
        checked={withPending}
        onChange={setWithPending}
      />
    </ConfirmDialog>
  )
}

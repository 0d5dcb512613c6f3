import type { WebhookTest } from '../../../../client/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { receiverName } from './data.ts'
import { WEBHOOKS } from './texts.ts'

/** The response of each receiver to a test event. */
export function TestDialog({ outcome, onClose }: { outcome: WebhookTest; onClose: () => void }) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={WEBHOOKS.testTitle}
      description={WEBHOOKS.testText}
      actions={
        <Button look="primary" onClick={onClose}>
          {WEBHOOKS.done}
        </Button>
      }
    >
      <ul className="flex flex-col gap-3">
        {outcome.receivers.map(({ receiver, delivered, ms, status, body, error }) => (
          <li key={receiver.id} className="rounded-md border border-line px-3 py-2 text-sm">
            <span className="flex flex-wrap items-center gap-2">
              <span className="font-medium">{receiverName(receiver)}</span>
              <Badge tone={delivered ? 'success' : 'danger'}>
                {delivered ? WEBHOOKS.delivered : WEBHOOKS.failed}
              </Badge>
              <span className="text-muted">
                {status ?? WEBHOOKS.noResponse} · {WEBHOOKS.ms(ms)}
              </span>
            </span>
            {error && <p className="mt-1 text-danger-ink">{error}</p>}
            {body && <pre className="mt-2 whitespace-pre-wrap break-all font-mono text-xs">{body}</pre>}
          </li>
        ))}
      </ul>
    </Dialog>
  )
}

import { clsx } from 'clsx'
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react'
import type { SystemReport } from '../../../../client/index.ts'
import { HEALTH } from './texts.ts'
import { formatClock } from './values.ts'

const LOOKS = {
  ok: { Icon: CircleCheck, classes: 'bg-success-soft text-success-ink' },
  missing: { Icon: CircleAlert, classes: 'bg-warning-soft text-warning-ink' },
  degraded: { Icon: CircleAlert, classes: 'bg-warning-soft text-warning-ink' },
  stopping: { Icon: CircleAlert, classes: 'bg-warning-soft text-warning-ink' },
  unavailable: { Icon: CircleX, classes: 'bg-danger-soft text-danger-ink' },
}

/** One sentence about all checks. With an error: the latest call has failed, and the report is an earlier one. */
export function Status({
  system: { status, checks, comparison },
  checkedAt,
  error,
}: {
  system: SystemReport
  checkedAt: number
  error: Error | null
}) {
  const isLacking = status === 'ok' && Object.values(checks).includes('missing')
  const state = isLacking ? 'missing' : status
  const { Icon, classes } = LOOKS[error ? 'unavailable' : state]
  const { title, text } = error ? { title: HEALTH.unreachable, text: error.message } : HEALTH.states[state]
  return (
    <div className={clsx('flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg px-4 py-3.5', classes)}>
      <Icon aria-hidden="true" className="size-6 shrink-0" />
      <div role="status" className="min-w-0 flex-1 basis-48">
        <p className="font-semibold">{title}</p>
        <p className="text-sm">{text}</p>
        {comparison && !error && <p className="text-sm tabular-nums">{HEALTH.comparing(comparison)}</p>}
      </div>
      <p className="text-sm tabular-nums">{HEALTH.checkedAt(formatClock(checkedAt))}</p>
    </div>
  )
}

import type { SystemReport } from '../../../../client/index.ts'
import { formatTime } from '../../ui/format.ts'
import { Card } from '../../ui/page.tsx'
import { HEALTH } from './texts.ts'

/** Versions, uptime and kinds of storage. */
export function About({
  system: { version, nodeVersion, uptimeSeconds, storage },
  readAt,
}: {
  system: SystemReport
  readAt: number
}) {
  const facts = [
    { label: HEALTH.version, value: version },
    { label: HEALTH.nodeVersion, value: nodeVersion },
    {
      label: HEALTH.uptime,
      value: HEALTH.duration(uptimeSeconds),
      title: HEALTH.startedAt(formatTime(readAt - uptimeSeconds * 1000)),
    },
    { label: HEALTH.files, value: HEALTH.storages[storage.files] },
    { label: HEALTH.state, value: HEALTH.storages[storage.state] },
  ]
  return (
    <Card title={HEALTH.about} isFlush>
      <dl className="divide-y divide-line">
        {facts.map(({ label, value, title }) => (
          <div key={label} className="flex items-baseline justify-between gap-4 px-4 py-3">
            <dt className="text-muted">{label}</dt>
            <dd className="text-right font-medium tabular-nums" title={title}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

import { clsx } from 'clsx'
import type { SystemReport } from '../../../../client/index.ts'
import { Dot } from '../../ui/badge.tsx'
import { Card } from '../../ui/page.tsx'
import { HEALTH } from './texts.ts'

type Check = keyof SystemReport['checks']

const ORDER: readonly Check[] = ['bucket', 'index', 'disk', 'ffmpeg', 'fonts']

/** The checks of `/readyz`, each with what to do when it fails. */
export function Checks({ checks }: Pick<SystemReport, 'checks'>) {
  return (
    <Card title={HEALTH.checks} isFlush>
      <ul className="divide-y divide-line">
        {ORDER.map((name) => {
          const outcome = checks[name]
          if (outcome === undefined) return null
          const remedy = HEALTH.remedies[`${name} ${outcome}`]
          const isLacking = outcome === 'missing'
          return (
            <li key={name} className="flex items-start gap-4 px-4 py-3">
              <div className="min-w-0 flex-1">
                <p className="font-medium">{HEALTH.checkNames[name]}</p>
                <p className="text-muted text-sm">{HEALTH.checkPurposes[name]}</p>
                {remedy && (
                  <p className={clsx('mt-1 text-sm', isLacking ? 'text-warning-ink' : 'text-danger-ink')}>
                    {remedy}
                  </p>
                )}
              </div>
              <span className="mt-0.5 inline-flex items-center gap-2 whitespace-nowrap text-sm">
                <Dot tone={outcome === 'ok' ? 'success' : isLacking ? 'warning' : 'danger'} />
                {HEALTH.outcomes[outcome]}
              </span>
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

import { useState } from 'react'
import { USAGE_DAYS_MAX } from '../../../../client/generated/limits.ts'
import { Segmented } from '../../ui/forms/choices.tsx'
import { Input } from '../../ui/forms/field.tsx'
import { dayAfter, lastDays, lengthOf, type Period, today } from './period.ts'
import { USAGE } from './texts.ts'

type Choice = keyof typeof USAGE.periods

/** Chooses the last days, or a first and a last day. */
export function PeriodPicker({ period, onChange }: { period: Period; onChange: (period: Period) => void }) {
  const [choice, setChoice] = useState<Choice>('30')
  const choose = (next: Choice) => {
    setChoice(next)
    if (next !== 'custom') onChange(lastDays(Number(next)))
  }
  const change = (next: Period) => {
    const isValid = next.from <= next.to && next.to <= today() && lengthOf(next) <= USAGE_DAYS_MAX
    if (isValid) onChange(next)
  }
  const oldest = dayAfter(today(), 1 - USAGE_DAYS_MAX)
  return (
    <>
      {choice === 'custom' && (
        <div className="flex items-center gap-2">
          <Input
            type="date"
            aria-label={USAGE.from}
            className="h-8 w-36 text-sm"
            value={period.from}
            min={oldest}
            max={period.to}
            onChange={({ target }) => target.value && change({ ...period, from: target.value })}
          />
          <span aria-hidden="true" className="text-muted">
            –
          </span>
          <Input
            type="date"
            aria-label={USAGE.to}
            className="h-8 w-36 text-sm"
            value={period.to}
            min={period.from}
            max={today()}
            onChange={({ target }) => target.value && change({ ...period, to: target.value })}
          />
        </div>
      )}
      <Segmented
        label={USAGE.period}
        value={choice}
        onChange={choose}
        options={(Object.keys(USAGE.periods) as Choice[]).map((value) => ({
          value,
          label: USAGE.periods[value],
        }))}
      />
    </>
  )
}

import { Slider } from '../../../ui/forms/choices.tsx'
import { Input } from '../../../ui/forms/field.tsx'
import { PLAYGROUND } from '../texts.ts'
import type { InputProps } from './input-props.ts'

// A slider for more would jump over most values.
const SLIDER_MAX_RANGE = 10_000

/** A number: a slider for its range, and a field for exact values. */
export function NumberInput({ parameter, value, onChange, described }: InputProps<'integer' | 'number'>) {
  const { name, min, max, type } = parameter
  const preset = parameter.default ?? parameter.bare
  const step = type === 'integer' ? 1 : stepOf(max - min)
  const number = value === undefined || value === '' ? Number.NaN : Number(value)
  const shown = Number.isNaN(number) ? (parameter.default ?? min) : Math.min(max, Math.max(min, number))
  return (
    <div className="flex items-center gap-3">
      {max - min <= SLIDER_MAX_RANGE && (
        <Slider
          value={shown}
          min={min}
          max={max}
          step={step}
          onChange={(next) => onChange(String(Number(next.toFixed(4))))}
          label={name}
          className={value === undefined ? 'opacity-60' : ''}
        />
      )}
      <Input
        type="number"
        inputMode="decimal"
        value={value ?? ''}
        // Neither `min` nor `max`: the service explains what it accepts.
        step="any"
        placeholder={preset === undefined ? '–' : String(preset)}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        aria-label={PLAYGROUND.value(name)}
        className="w-22! shrink-0 tabular-nums"
        {...described}
      />
    </div>
  )
}

/** A step with which a slider has between 100 and 1,000 values. */
function stepOf(range: number): number {
  return 10 ** Math.floor(Math.log10(range / 100))
}

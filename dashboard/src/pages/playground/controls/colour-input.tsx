import { Input } from '../../../ui/forms/field.tsx'
import { PLAYGROUND } from '../texts.ts'
import type { InputProps } from './input-props.ts'

/** A colour: a picker, and a field for names and transparency. */
export function ColourInput({ parameter, value, onChange, described }: InputProps<'color'>) {
  const { name } = parameter
  return (
    <div className="flex items-center gap-2">
      <input
        type="color"
        value={sixDigits(value ?? parameter.default)}
        onChange={({ target }) => onChange(target.value.slice(1))}
        aria-label={PLAYGROUND.colour(name)}
        className="h-9 w-11 shrink-0 cursor-pointer rounded-md border border-line-strong/60 bg-surface p-1"
      />
      <Input
        value={value ?? ''}
        placeholder={parameter.default ?? PLAYGROUND.notSet}
        onChange={({ target }) => onChange(target.value.replace(/^#/, '') || undefined)}
        aria-label={PLAYGROUND.value(name)}
        spellCheck={false}
        className="font-mono"
        {...described}
      />
    </div>
  )
}

/** The picker accepts only `#rrggbb`. */
function sixDigits(colour = '000000'): string {
  if (/^[\da-f]{3,4}$/i.test(colour))
    return `#${[...colour.slice(0, 3)].map((digit) => digit + digit).join('')}`
  return /^[\da-f]{6}(?:..)?$/i.test(colour) ? `#${colour.slice(0, 6)}` : '#000000'
}

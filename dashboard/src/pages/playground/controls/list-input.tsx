import { useEffect, useState } from 'react'
import { Input } from '../../../ui/forms/field.tsx'
import { PLAYGROUND } from '../texts.ts'
import type { InputProps } from './input-props.ts'

/** Several numbers, each with its name. The parameter is set as soon as all required numbers are. */
export function ListInput({ parameter, value, onChange, described }: InputProps<'list'>) {
  const { name, names, separator, atLeast = names.length, min, max } = parameter
  const [parts, setParts] = useState(() => partsOf(value, separator))
  useEffect(() => {
    // Changed elsewhere, for example by a drag on the picture.
    setParts((current) =>
      filled(current).join(separator) === (value ?? '') ? current : partsOf(value, separator),
    )
  }, [value, separator])
  const set = (at: number, part: string) => {
    const next = names.map((_, i) => (i === at ? part : (parts[i] ?? '')))
    setParts(next)
    const count = filled(next).length
    if (count >= atLeast) onChange(filled(next).join(separator))
    else if (value !== undefined) onChange(undefined)
  }
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(4rem,1fr))] gap-2">
      {names.map((each, i) => (
        <Input
          key={each}
          type="number"
          inputMode="decimal"
          step="any"
          value={parts[i] ?? ''}
          placeholder={each}
          title={`${each}: ${min[i]} – ${max[i]}`}
          onChange={({ target }) => set(i, target.value)}
          aria-label={PLAYGROUND.value(`${name}: ${each}`)}
          className="px-2! tabular-nums"
          {...described}
        />
      ))}
    </div>
  )
}

/** The numbers before the first empty field. */
function filled(parts: readonly string[]): readonly string[] {
  const end = parts.indexOf('')
  return end === -1 ? parts : parts.slice(0, end)
}

function partsOf(value: string | undefined, separator: string): string[] {
  return value === undefined ? [] : value.split(separator)
}

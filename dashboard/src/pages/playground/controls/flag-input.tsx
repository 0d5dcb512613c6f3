import { Segmented } from '../../../ui/forms/choices.tsx'
import { PLAYGROUND } from '../texts.ts'
import type { InputProps } from './input-props.ts'

/** A flag. Off is a choice of its own: it switches off what a preset has switched on. */
export function FlagInput({ parameter, value, onChange }: InputProps<'flag'>) {
  const { words = [] } = parameter
  const state = stateOf(value, words)
  return (
    <Segmented
      label={PLAYGROUND.value(parameter.name)}
      value={state}
      onChange={(next) => onChange(next === 'unset' ? undefined : next)}
      options={[
        { value: 'unset', label: PLAYGROUND.notSet },
        { value: '1', label: PLAYGROUND.turnOn },
        { value: '0', label: PLAYGROUND.turnOff },
        ...words.map((word) => ({ value: word, label: word })),
      ]}
    />
  )
}

function stateOf(value: string | undefined, words: readonly string[]): string {
  if (value === undefined) return 'unset'
  if (words.includes(value)) return value
  return /^(?:0|false)$/i.test(value) ? '0' : '1'
}

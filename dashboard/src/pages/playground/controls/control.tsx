import { RotateCcw } from 'lucide-react'
import { useId } from 'react'
import { IconButton } from '../../../ui/button.tsx'
import { Input } from '../../../ui/forms/field.tsx'
import { Select } from '../../../ui/forms/select.tsx'
import type { Parameter } from '../catalog.ts'
import { PLAYGROUND } from '../texts.ts'
import { ColourInput } from './colour-input.tsx'
import { FlagInput } from './flag-input.tsx'
import type { InputProps } from './input-props.ts'
import { KeyInput } from './key-input.tsx'
import { ListInput } from './list-input.tsx'
import { NumberInput } from './number-input.tsx'

interface Props {
  parameter: Parameter
  value: string | undefined
  onChange: (value: string | undefined) => void
  error: string | undefined
}

/** The id of the element around the control of a parameter. */
export function controlId(name: string): string {
  return `parameter-${name}`
}

/** One parameter: its name, its control, and its purpose or the error that it has caused. */
export function Control({ parameter, value, onChange, error }: Props) {
  const noteId = useId()
  const { name, help, expected } = parameter
  const described = { 'aria-describedby': noteId, ...(error && { 'aria-invalid': true as const }) }
  return (
    <div id={controlId(name)} className="flex flex-col gap-1.5">
      <div className="flex h-6 items-center gap-2">
        <span className="font-medium font-mono text-sm">{name}</span>
        <span className="min-w-0 flex-1 truncate text-faint text-xs" title={expected}>
          {'unit' in parameter ? parameter.unit : ''}
        </span>
        {value !== undefined && (
          <IconButton
            label={PLAYGROUND.clear(name)}
            size="small"
            className="-my-1"
            onClick={() => onChange(undefined)}
          >
            <RotateCcw aria-hidden="true" />
          </IconButton>
        )}
      </div>
      {inputOf({ parameter, value, onChange, described })}
      <p
        id={noteId}
        className={error ? 'text-danger-ink text-xs' : 'text-muted text-xs'}
        {...(error && { role: 'alert' })}
      >
        {error ?? help}
      </p>
    </div>
  )
}

function inputOf({
  parameter,
  ...rest
}: Pick<Props, 'parameter' | 'value' | 'onChange'> & { described: InputProps<'flag'>['described'] }) {
  const { value, onChange, described } = rest
  const name = PLAYGROUND.value(parameter.name)
  switch (parameter.type) {
    case 'integer':
    case 'number':
      return <NumberInput parameter={parameter} {...rest} />
    case 'flag':
      return <FlagInput parameter={parameter} {...rest} />
    case 'list':
      return <ListInput parameter={parameter} {...rest} />
    case 'color':
      return <ColourInput parameter={parameter} {...rest} />
    case 'key':
      return <KeyInput parameter={parameter} {...rest} />
    case 'text':
      return (
        <Input
          value={value ?? ''}
          maxLength={parameter.maxLength}
          placeholder={parameter.default ?? PLAYGROUND.notSet}
          onChange={({ target }) => onChange(target.value || undefined)}
          aria-label={name}
          {...described}
        />
      )
    case 'enum':
      return (
        <Select
          value={value}
          options={choices(parameter.values, value)}
          placeholder={
            parameter.default === undefined ? PLAYGROUND.notSet : PLAYGROUND.defaultIs(parameter.default)
          }
          onChange={onChange}
          aria-label={name}
          {...described}
        />
      )
  }
}

/** The values of an enum. A synonym in the address is one too. */
function choices(values: readonly string[], value: string | undefined) {
  const all = value === undefined || values.includes(value) ? values : [...values, value]
  return all.map((each) => ({ value: each, label: each }))
}

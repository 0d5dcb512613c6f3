import { useState } from 'react'
import { RULES } from '../../../texts/clients.ts'
import { Segmented, Switch } from '../../../ui/forms/choices.tsx'
import { Field, Input, Textarea } from '../../../ui/forms/field.tsx'
import type { RuleField } from './schema.ts'

/** The value of a rule. Null: the default of the installation. */
export type RuleValue = boolean | number | string | null | ReadonlyArray<string | number> | Members
type Members = Readonly<Record<string, number | null>>

interface FieldProps<Kind extends RuleField['kind']> {
  field: Extract<RuleField, { kind: Kind }>
  value: RuleValue
  onChange: (value: RuleValue) => void
  error: string | undefined
}

/** The field of one rule, by the kind of its value. */
export function RuleInput({ field, ...rest }: FieldProps<RuleField['kind']>) {
  if (field.kind === 'switch') return <SwitchInput field={field} {...rest} />
  if (field.kind === 'list') return <ListInput field={field} {...rest} />
  if (field.kind === 'members') return <MembersInput field={field} {...rest} />
  return (
    <Field label={labelOf(field)} hint={helpOf(field)} error={rest.error}>
      <NumberInput value={rest.value} onChange={rest.onChange} />
    </Field>
  )
}

function labelOf({ name }: RuleField): string {
  return RULES.labels[name] ?? name
}

/** The description of the API begins in lower case, since the documentation continues a sentence with it. */
function helpOf({ help }: RuleField): string {
  return `${help.charAt(0).toUpperCase()}${help.slice(1)}`
}

function NumberInput({
  value,
  onChange,
  ...rest
}: {
  value: RuleValue | undefined
  onChange: (value: number | null) => void
}) {
  return (
    <Input
      type="number"
      inputMode="numeric"
      placeholder={RULES.default}
      value={typeof value === 'number' ? value : ''}
      onChange={({ target }) => onChange(target.value === '' ? null : target.valueAsNumber)}
      {...rest}
    />
  )
}

function SwitchInput({ field, value, onChange, error }: FieldProps<'switch'>) {
  return (
    <div>
      <Switch
        label={labelOf(field)}
        description={helpOf(field)}
        checked={value === field.on}
        onChange={(isOn) => onChange(isOn ? field.on : null)}
      />
      {error && (
        <p role="alert" className="text-danger-ink text-sm">
          {error}
        </p>
      )}
    </div>
  )
}

function ListInput({ field, value, onChange, error }: FieldProps<'list'>) {
  const [text, setText] = useState(() => (Array.isArray(value) ? value.join('\n') : ''))
  const { word } = field
  const hasList = word === undefined || Array.isArray(value)
  const change = (next: string) => {
    setText(next)
    const items = next.split(/[\n,]/).flatMap((item) => item.trim() || [])
    const values = field.isNumeric ? items.map(Number) : items
    // An empty list is a value only when the rule has another one for "any".
    onChange(values.length === 0 && word === undefined ? null : values)
  }
  return (
    <div className="flex flex-col gap-2">
      {word !== undefined && (
        <>
          <span className="font-medium text-sm">{labelOf(field)}</span>
          <Segmented
            label={labelOf(field)}
            value={hasList ? 'list' : value === word ? 'word' : 'default'}
            onChange={(mode) => (mode === 'list' ? change(text) : onChange(mode === 'word' ? word : null))}
            options={[
              { value: 'default', label: RULES.default },
              { value: 'word', label: RULES.any },
              { value: 'list', label: RULES.limited },
            ]}
          />
        </>
      )}
      {hasList ? (
        <Field
          label={labelOf(field)}
          hint={`${helpOf(field)}. ${RULES.list}.`}
          isLabelHidden={word !== undefined}
          error={error}
        >
          <Textarea
            spellCheck={false}
            className="font-mono text-sm"
            placeholder={word === undefined ? RULES.default : RULES.none}
            value={text}
            onChange={({ target }) => change(target.value)}
          />
        </Field>
      ) : (
        <p className="text-muted text-sm">{helpOf(field)}</p>
      )}
    </div>
  )
}

function MembersInput({ field, value, onChange, error }: FieldProps<'members'>) {
  const members = (typeof value === 'object' && !Array.isArray(value) ? value : null) as Members | null
  return (
    <fieldset>
      <legend className="font-medium text-sm">{labelOf(field)}</legend>
      <p className="mb-2 text-muted text-sm">{RULES.perWindow}</p>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        {field.names.map((name) => (
          <Field key={name} label={RULES.rates[name] ?? name}>
            <NumberInput
              value={members?.[name]}
              onChange={(points) => onChange({ ...members, [name]: points })}
            />
          </Field>
        ))}
      </div>
      {error && (
        <p role="alert" className="mt-2 text-danger-ink text-sm">
          {error}
        </p>
      )}
    </fieldset>
  )
}

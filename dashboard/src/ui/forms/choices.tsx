import * as RadixCheckbox from '@radix-ui/react-checkbox'
import * as RadixSlider from '@radix-ui/react-slider'
import * as RadixSwitch from '@radix-ui/react-switch'
import * as ToggleGroup from '@radix-ui/react-toggle-group'
import { clsx } from 'clsx'
import { Check, Minus } from 'lucide-react'
import { type ReactNode, useId } from 'react'

/** A box to tick. `mixed`: some of several things are chosen. */
export function Checkbox({
  checked,
  onChange,
  label,
  isLabelHidden = false,
  description,
  isDisabled = false,
}: {
  checked: boolean | 'mixed'
  onChange: (checked: boolean) => void
  label: ReactNode
  isLabelHidden?: boolean
  description?: ReactNode
  isDisabled?: boolean
}) {
  const id = useId()
  return (
    <div className="flex items-start gap-2">
      <RadixCheckbox.Root
        id={id}
        checked={checked === 'mixed' ? 'indeterminate' : checked}
        onCheckedChange={(next) => onChange(next === true)}
        disabled={isDisabled}
        className="relative mt-0.75 flex size-4 shrink-0 pointer-coarse:after:absolute pointer-coarse:after:-inset-3 items-center justify-center rounded-sm border border-line-strong bg-surface text-on-accent disabled:opacity-50 data-[state=checked]:border-accent data-[state=indeterminate]:border-accent data-[state=checked]:bg-accent data-[state=indeterminate]:bg-accent"
      >
        <RadixCheckbox.Indicator>
          {checked === 'mixed' ? (
            <Minus aria-hidden="true" strokeWidth={3} className="size-3" />
          ) : (
            <Check aria-hidden="true" strokeWidth={3} className="size-3" />
          )}
        </RadixCheckbox.Indicator>
      </RadixCheckbox.Root>
      <label htmlFor={id} className={isLabelHidden ? 'sr-only' : 'min-w-0'}>
        {label}
        {description && <span className="block text-muted text-sm">{description}</span>}
      </label>
    </div>
  )
}

/** A setting that is on or off, and applies at once. */
export function Switch({
  checked,
  onChange,
  label,
  description,
}: {
  checked: boolean
  onChange: (checked: boolean) => void
  label: ReactNode
  description?: ReactNode
}) {
  const id = useId()
  return (
    <div className="flex items-start justify-between gap-4">
      <label htmlFor={id} className="min-w-0">
        <span className="font-medium">{label}</span>
        {description && <span className="block text-muted text-sm">{description}</span>}
      </label>
      <RadixSwitch.Root
        id={id}
        checked={checked}
        onCheckedChange={onChange}
        className="relative mt-0.5 h-5 w-9 shrink-0 pointer-coarse:after:absolute pointer-coarse:after:-inset-x-1 pointer-coarse:after:-inset-y-3 rounded-full border border-line-strong bg-pressed p-px transition-colors data-[state=checked]:border-accent data-[state=checked]:bg-accent"
      >
        <RadixSwitch.Thumb className="block size-4 rounded-full bg-white shadow-raised transition-transform data-[state=checked]:translate-x-4" />
      </RadixSwitch.Root>
    </div>
  )
}

/** One of a few choices, all of them visible. */
export function Segmented<Value extends string>({
  value,
  onChange,
  options,
  label,
}: {
  value: Value
  onChange: (value: Value) => void
  /** `title`: the name of a choice that has only an icon. */
  options: ReadonlyArray<{ value: Value; label: ReactNode; title?: string }>
  label: string
}) {
  return (
    <ToggleGroup.Root
      type="single"
      value={value}
      onValueChange={(next) => next && onChange(next as Value)}
      aria-label={label}
      className="inline-flex h-8 shrink-0 items-center rounded-md border pointer-coarse:h-10 border-line bg-sunken p-0.5"
    >
      {options.map((option) => (
        <ToggleGroup.Item
          key={option.value}
          value={option.value}
          aria-label={option.title}
          title={option.title}
          className="relative inline-flex h-full items-center justify-center gap-1.5 rounded-sm px-2.5 pointer-coarse:min-w-10 pointer-coarse:after:absolute pointer-coarse:after:inset-x-0 pointer-coarse:after:-inset-y-1 text-muted text-sm hover:text-ink data-[state=on]:bg-raised data-[state=on]:font-medium data-[state=on]:text-ink data-[state=on]:shadow-raised [&>svg]:size-4"
        >
          {option.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  )
}

/** A number within bounds. Put a number field next to it for exact values. */
export function Slider({
  value,
  onChange,
  min,
  max,
  step = 1,
  label,
  className,
}: {
  value: number
  onChange: (value: number) => void
  min: number
  max: number
  step?: number
  label: string
  className?: string
}) {
  return (
    <RadixSlider.Root
      value={[value]}
      onValueChange={([next = min]) => onChange(next)}
      min={min}
      max={max}
      step={step}
      className={clsx(
        'relative flex h-6 w-full touch-none pointer-coarse:h-10 select-none items-center',
        className,
      )}
    >
      <RadixSlider.Track className="relative h-1 grow rounded-full bg-pressed">
        <RadixSlider.Range className="absolute h-full rounded-full bg-accent" />
      </RadixSlider.Track>
      <RadixSlider.Thumb
        aria-label={label}
        className="relative block size-4 rounded-full border-2 pointer-coarse:after:absolute pointer-coarse:after:-inset-3.5 border-accent bg-raised shadow-raised"
      />
    </RadixSlider.Root>
  )
}

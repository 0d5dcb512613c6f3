import * as Radix from '@radix-ui/react-select'
import { clsx } from 'clsx'
import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { nonce } from '../nonce.ts'
import { CONTROL } from './field.tsx'

/** One of the values of a select. */
export interface Option<Value extends string> {
  value: Value
  label: ReactNode
  /** Below the label, in the open list. */
  description?: ReactNode
}

/** A choice of one value. Its name comes from a `Field`, or from `aria-label`. */
export function Select<Value extends string>({
  value,
  onChange,
  options,
  placeholder,
  className,
  ...rest
}: {
  value: Value | undefined
  onChange: (value: Value) => void
  options: ReadonlyArray<Option<Value>>
  placeholder?: string
  className?: string
  id?: string
  'aria-label'?: string
  'aria-describedby'?: string
  'aria-invalid'?: boolean
}) {
  const chosen = options.find((option) => option.value === value)
  return (
    <Radix.Root value={value ?? ''} onValueChange={(next) => onChange(next as Value)}>
      <Radix.Trigger
        className={clsx(CONTROL, 'flex h-9 items-center justify-between gap-2', className)}
        {...rest}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder}>{chosen?.label}</Radix.Value>
        </span>
        <ChevronDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          collisionPadding={8}
          className="z-50 max-h-(--radix-select-content-available-height) min-w-(--radix-select-trigger-width) max-w-[calc(100vw-1rem)] animate-rise overflow-hidden rounded-lg border border-line bg-raised shadow-floating"
        >
          <Radix.Viewport {...(nonce && { nonce })} className="p-1">
            {options.map((option) => (
              <Radix.Item
                key={option.value}
                value={option.value}
                className="relative flex cursor-default select-none flex-col rounded-md py-1.5 pointer-coarse:py-2.5 pr-8 pl-2 text-sm outline-none data-[highlighted]:bg-hover"
              >
                <Radix.ItemText>{option.label}</Radix.ItemText>
                {option.description && <span className="text-muted text-xs">{option.description}</span>}
                <Radix.ItemIndicator className="absolute top-2 right-2">
                  <Check aria-hidden="true" className="size-4" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

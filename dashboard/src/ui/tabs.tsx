import * as Radix from '@radix-ui/react-tabs'
import type { ReactNode } from 'react'

/** Several views of one thing. Only the chosen one is in the page. */
export function Tabs<Value extends string>({
  value,
  onChange,
  tabs,
  label,
}: {
  value: Value
  onChange: (value: Value) => void
  tabs: ReadonlyArray<{ value: Value; label: ReactNode; content: ReactNode }>
  label: string
}) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as Value)}>
      <Radix.List aria-label={label} className="flex overflow-x-auto border-line border-b">
        {tabs.map((tab) => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px h-9 shrink-0 pointer-coarse:h-11 rounded-t-md border-transparent border-b-2 px-2 text-muted text-sm outline-offset-[-2px] hover:text-ink data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-ink"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className="pt-4 focus-visible:outline-offset-4">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}

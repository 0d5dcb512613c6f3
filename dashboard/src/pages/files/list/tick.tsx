import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import { FILES } from '../texts.ts'

/** The box of one item. Out of the tab order: the space key does the same for the item with the focus. */
export function Tick({
  name,
  isOn,
  onToggle,
  className,
}: {
  name: string
  isOn: boolean
  onToggle: (isRange: boolean) => void
  className?: string
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: an input has no state that can be styled with an icon
    <button
      type="button"
      role="checkbox"
      aria-checked={isOn}
      aria-label={FILES.select(name)}
      tabIndex={-1}
      onClick={(event) => {
        event.stopPropagation()
        onToggle(event.shiftKey)
      }}
      onDoubleClick={(event) => event.stopPropagation()}
      // The target is larger than the box.
      className={clsx('group/tick flex size-8 items-center justify-center pointer-coarse:size-10', className)}
    >
      <span
        className={clsx(
          'flex size-4 items-center justify-center rounded-sm border transition-colors',
          isOn
            ? 'border-accent bg-accent text-on-accent'
            : 'border-line-strong bg-surface text-transparent group-hover/tick:border-accent',
        )}
      >
        <Check aria-hidden="true" strokeWidth={3} className="size-3" />
      </span>
    </button>
  )
}

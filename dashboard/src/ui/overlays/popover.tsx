import * as Radix from '@radix-ui/react-popover'
import { clsx } from 'clsx'
import { type ReactNode, useId } from 'react'

/** A small window at a button, for filters and short forms. It has the name of the button. */
export function Popover({
  trigger,
  align = 'start',
  isOpen,
  onOpenChange,
  className,
  children,
}: {
  trigger: ReactNode
  align?: 'start' | 'center' | 'end'
  isOpen?: boolean
  onOpenChange?: (isOpen: boolean) => void
  className?: string
  children: ReactNode
}) {
  const triggerId = useId()
  return (
    <Radix.Root {...(isOpen !== undefined && { open: isOpen })} {...(onOpenChange && { onOpenChange })}>
      <Radix.Trigger asChild id={triggerId}>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-labelledby={triggerId}
          align={align}
          sideOffset={6}
          collisionPadding={8}
          className={clsx(
            'z-50 max-w-[calc(100vw-1rem)] animate-rise rounded-lg border border-line bg-raised p-3 shadow-floating focus:outline-none',
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

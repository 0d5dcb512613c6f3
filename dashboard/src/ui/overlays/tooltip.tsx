import * as Radix from '@radix-ui/react-tooltip'
import type { ReactNode } from 'react'
import { Keys } from '../badge.tsx'

export const TooltipProvider = Radix.Provider

/** A short text at an element that can have the focus. It is no place for anything that must be read. */
export function Tooltip({
  text,
  shortcut,
  children,
}: {
  text: ReactNode
  shortcut?: readonly string[]
  children: ReactNode
}) {
  return (
    <Radix.Root delayDuration={400}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side="bottom"
          sideOffset={6}
          collisionPadding={8}
          className="z-60 flex max-w-72 animate-appear items-center gap-2 rounded-md bg-ink px-2 py-1 text-bg text-xs shadow-floating"
        >
          {text}
          {shortcut && <Keys keys={shortcut} isInverted />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

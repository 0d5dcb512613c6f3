import * as Context from '@radix-ui/react-context-menu'
import * as Radix from '@radix-ui/react-dropdown-menu'
import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import { Fragment, type ReactNode } from 'react'
import { Keys } from '../badge.tsx'

/** An entry of a menu. */
export interface MenuItem {
  label: ReactNode
  onSelect: () => void
  icon?: ReactNode
  /** To the right of the label. */
  shortcut?: readonly string[]
  /** In red: the action deletes something. */
  isDanger?: boolean
  isDisabled?: boolean
  /** With a check mark: one of several choices. */
  isChecked?: boolean
}

/** Groups of entries, with a line between two groups. Undefined and false are left out. */
export type MenuGroups = ReadonlyArray<ReadonlyArray<MenuItem | false | undefined>>

const CONTENT =
  'z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 max-w-80 animate-rise overflow-y-auto rounded-lg border border-line bg-raised p-1 text-sm shadow-floating'
const ITEM =
  'relative flex h-8 cursor-default pointer-coarse:h-11 select-none items-center gap-2 rounded-md px-2 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&>svg]:size-4 [&>svg]:shrink-0'

type Parts = typeof Radix | typeof Context

function entries(Parts: Parts, groups: MenuGroups): ReactNode {
  const shown = groups.map((group) => group.filter((item) => !!item)).filter((group) => group.length > 0)
  return shown.map((group, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: groups have no other name, and their order is fixed
    <Fragment key={index}>
      {index > 0 && <Parts.Separator className="my-1 h-px bg-line" />}
      {group.map((item, at) => (
        <Parts.Item
          // biome-ignore lint/suspicious/noArrayIndexKey: labels may be nodes
          key={at}
          onSelect={item.onSelect}
          disabled={item.isDisabled ?? false}
          {...(item.isChecked !== undefined && { role: 'menuitemradio', 'aria-checked': item.isChecked })}
          className={clsx(
            ITEM,
            item.isDanger ? 'text-danger-ink data-[highlighted]:bg-danger-soft' : 'text-ink',
          )}
        >
          {item.icon}
          <span className="min-w-0 flex-1 truncate">{item.label}</span>
          {item.isChecked && <Check aria-hidden="true" />}
          {item.shortcut && <Keys keys={item.shortcut} />}
        </Parts.Item>
      ))}
    </Fragment>
  ))
}

/** A menu below a button. */
export function Menu({
  trigger,
  groups,
  header,
  align = 'start',
  side = 'bottom',
}: {
  /** The button, which must accept a ref. */
  trigger: ReactNode
  groups: MenuGroups
  /** Above the entries. */
  header?: ReactNode
  align?: 'start' | 'center' | 'end'
  side?: 'top' | 'right' | 'bottom' | 'left'
}) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content align={align} side={side} sideOffset={4} collisionPadding={8} className={CONTENT}>
          {header && <Radix.Label className="px-2 py-1.5">{header}</Radix.Label>}
          {header && <Radix.Separator className="my-1 h-px bg-line" />}
          {entries(Radix, groups)}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The menu of a right click on its children. Its entries must be reachable in another way too. */
export function ContextMenu({ groups, children }: { groups: MenuGroups; children: ReactNode }) {
  return (
    <Context.Root>
      <Context.Trigger asChild>{children}</Context.Trigger>
      <Context.Portal>
        <Context.Content collisionPadding={8} className={CONTENT}>
          {entries(Context, groups)}
        </Context.Content>
      </Context.Portal>
    </Context.Root>
  )
}

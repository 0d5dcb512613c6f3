import * as Radix from '@radix-ui/react-dialog'
import { clsx } from 'clsx'
import { ChevronLeft, ChevronRight, Maximize2, Minimize2, X } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { IconButton } from '../../../ui/button.tsx'
import { DETAILS } from './texts.ts'

const wide = window.matchMedia('(min-width: 48rem)')

function useIsWide(): boolean {
  return useSyncExternalStore(
    (listener) => {
      wide.addEventListener('change', listener)
      return () => wide.removeEventListener('change', listener)
    },
    () => wide.matches,
  )
}

/**
 * A panel at the right. The list next to it can still be used: a click there shows another file. On phones, and when it is
 * enlarged, it covers the page.
 */
export function Panel({
  title,
  onClose,
  onPrevious,
  onNext,
  onKey,
  actions,
  preview,
  children,
}: {
  /** Undefined while the file is loaded. */
  title: string | undefined
  onClose: () => void
  /** Undefined: there is no such file. */
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
  /** Receives further keys. */
  onKey: (key: string) => void
  actions: ReactNode
  preview: ReactNode
  children: ReactNode
}) {
  const content = useRef<HTMLDivElement>(null)
  const isWide = useIsWide()
  const [isExpanded, setExpanded] = useState(false)
  const isCovering = !isWide || isExpanded

  const keys = useRef((_: KeyboardEvent) => {})
  keys.current = (event) => {
    const { target, key } = event
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return
    // The body has the focus after a dialog that was opened here. Other dialogs and menus use these keys themselves.
    const isHere = target === document.body || (target instanceof Node && content.current?.contains(target))
    if (!isHere || usesKeys(target)) return
    if (key === 'ArrowLeft') onPrevious?.()
    else if (key === 'ArrowRight') onNext?.()
    else if (key === 'f' && isWide) setExpanded(!isExpanded)
    else if (key === 'F2' || key === 'Delete') onKey(key)
    else return
    event.preventDefault()
  }
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => keys.current(event)
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  return (
    <Radix.Root open modal={isCovering} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Content
          ref={content}
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            content.current?.focus()
          }}
          onInteractOutside={(event) => event.preventDefault()}
          className={clsx(
            'fixed inset-y-0 right-0 z-30 flex animate-slide-end flex-col border-line border-l bg-raised shadow-floating focus:outline-none',
            isCovering ? 'left-0' : 'w-[26rem] xl:w-[32rem]',
          )}
        >
          <header className="flex items-center gap-1 border-line border-b py-2 pr-2 pl-4">
            <Radix.Title className="min-w-0 flex-1 truncate font-semibold text-lg" title={title}>
              {title ?? DETAILS.title}
            </Radix.Title>
            <IconButton label={DETAILS.previous} shortcut={['←']} disabled={!onPrevious} onClick={onPrevious}>
              <ChevronLeft />
            </IconButton>
            <IconButton label={DETAILS.next} shortcut={['→']} disabled={!onNext} onClick={onNext}>
              <ChevronRight />
            </IconButton>
            {isWide && (
              <IconButton
                label={isExpanded ? DETAILS.shrink : DETAILS.expand}
                shortcut={['F']}
                onClick={() => setExpanded(!isExpanded)}
              >
                {isExpanded ? <Minimize2 /> : <Maximize2 />}
              </IconButton>
            )}
            <IconButton label={DETAILS.close} shortcut={['Esc']} onClick={onClose}>
              <X />
            </IconButton>
          </header>
          <div className={clsx('min-h-0 flex-1', isWide && isExpanded ? 'flex' : 'overflow-y-auto')}>
            <div
              className={clsx(
                'stage relative border-line bg-sunken',
                isWide && isExpanded ? 'min-w-0 flex-1 border-r' : 'border-b',
              )}
              data-expanded={isWide && isExpanded}
            >
              {preview}
            </div>
            <div className={clsx(isWide && isExpanded && 'w-[26rem] shrink-0 overflow-y-auto')}>
              {actions && <div className="flex flex-wrap items-center gap-2 px-4 pt-3">{actions}</div>}
              <div className="px-4 pt-2 pb-8">{children}</div>
            </div>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Whether an element uses the arrow keys itself. */
function usesKeys(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('input, textarea, select, iframe, [role="tab"], [role="combobox"]') !== null
  )
}

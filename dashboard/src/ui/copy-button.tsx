import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { COMMON } from '../texts/common.ts'
import { Button, IconButton } from './button.tsx'
import { toast } from './overlays/toast.tsx'

/** Copies a text. Works over plain HTTP in a LAN too, where browsers offer no clipboard to scripts. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  area.setAttribute('readonly', '')
  area.style.position = 'fixed'
  area.style.opacity = '0'
  // Within an open dialog: the focus must not leave it.
  const place = document.activeElement?.closest('[role="dialog"]') ?? document.body
  const focused = document.activeElement
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  if (!isCopied) throw new Error(COMMON.copyFailed)
}

/** A button that copies a text. With `label` as its text when `isText` is set, otherwise as an icon. */
export function CopyButton({
  text,
  label = COMMON.copy,
  isText = false,
  size = 'medium',
}: {
  text: string
  label?: string
  isText?: boolean
  size?: 'small' | 'medium'
}) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = () => void copyText(text).then(() => setCopied(true), toast.failure)
  const icon = isCopied ? (
    <Check aria-hidden="true" className="size-4 text-success-ink" />
  ) : (
    <Copy aria-hidden="true" className="size-4" />
  )
  return (
    <>
      {isText ? (
        <Button icon={icon} onClick={copy} size={size}>
          {label}
        </Button>
      ) : (
        <IconButton label={label} onClick={copy} size={size}>
          {icon}
        </IconButton>
      )}
      <span role="status" className="sr-only">
        {isCopied ? COMMON.copied : ''}
      </span>
    </>
  )
}

/** A value to copy, for example a token or a link, in one line. */
export function CopyField({ value, label }: { value: string; label: string }) {
  return (
    <div className="flex items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2.5">
      <code className="min-w-0 flex-1 select-all truncate font-mono text-sm" title={value}>
        {value}
      </code>
      <CopyButton text={value} label={label} />
    </div>
  )
}

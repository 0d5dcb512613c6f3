import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/forms/field.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { FileChoice } from '../choose/file-choice.tsx'
import { PLAYGROUND } from '../texts.ts'
import type { InputProps } from './input-props.ts'

/** Another file, for example a watermark. */
export function KeyInput({ parameter, value, onChange, described }: InputProps<'key'>) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="flex items-center gap-2">
      <Input
        value={value ?? ''}
        placeholder={PLAYGROUND.notSet}
        onChange={({ target }) => onChange(target.value || undefined)}
        aria-label={PLAYGROUND.value(parameter.name)}
        className="font-mono"
        {...described}
      />
      <Button className="h-9!" onClick={() => setOpen(true)}>
        {PLAYGROUND.pick}
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={PLAYGROUND.chooseFile} size="large">
        <FileChoice
          group={parameter.group}
          onChoose={({ s3PathOriginal }) => {
            onChange(s3PathOriginal)
            setOpen(false)
          }}
        />
      </Dialog>
    </div>
  )
}

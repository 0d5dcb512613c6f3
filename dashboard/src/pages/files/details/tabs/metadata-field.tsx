import { Plus, Trash2 } from 'lucide-react'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { Input } from '../../../../ui/forms/field.tsx'
import { DETAILS } from '../texts.ts'
import { type Entry, entryOf } from './metadata-entry.ts'

/** Names and values, one pair per line. */
export function MetadataField({
  entries,
  onChange,
}: {
  entries: readonly Entry[]
  onChange: (entries: readonly Entry[]) => void
}) {
  const change = (id: number, part: Partial<Entry>) =>
    onChange(entries.map((entry) => (entry.id === id ? { ...entry, ...part } : entry)))
  return (
    <div className="flex flex-col gap-2">
      <p className="font-medium text-sm">{DETAILS.metadata}</p>
      {entries.map(({ id, name, value }) => (
        <div key={id} className="flex items-center gap-2">
          <Input
            aria-label={DETAILS.metadataName}
            placeholder={DETAILS.name}
            value={name}
            onChange={({ target }) => change(id, { name: target.value })}
            className="max-w-2/5"
          />
          <Input
            aria-label={DETAILS.metadataValue}
            value={value}
            onChange={({ target }) => change(id, { value: target.value })}
          />
          <IconButton
            label={DETAILS.removeEntry}
            onClick={() => onChange(entries.filter((entry) => entry.id !== id))}
          >
            <Trash2 />
          </IconButton>
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon={<Plus aria-hidden="true" className="size-3.5" />}
          onClick={() => onChange([...entries, entryOf()])}
        >
          {DETAILS.addEntry}
        </Button>
      </div>
    </div>
  )
}

import { ListFilter, X } from 'lucide-react'
import { useId } from 'react'
import { TAG_MAX_BYTES } from '../../../../../client/generated/limits.ts'
import { Button } from '../../../ui/button.tsx'
import { formatDate } from '../../../ui/format.ts'
import { Field, Input } from '../../../ui/forms/field.tsx'
import { Select } from '../../../ui/forms/select.tsx'
import { Popover } from '../../../ui/overlays/popover.tsx'
import { type FilesSearch, type FileType, TYPES, without } from '../search.ts'
import { FILES } from '../texts.ts'

const NAMES = ['type', 'tag', 'from', 'to'] as const

/** The filters by type, tag and day. Those in use are shown next to the button, and can be removed there. */
export function Filters({
  search,
  onChange,
  tags,
}: {
  search: FilesSearch
  onChange: (change: FilesSearch) => void
  tags: readonly string[]
}) {
  const listId = useId()
  const active = NAMES.filter((name) => search[name] !== undefined)
  const set = (name: (typeof NAMES)[number], value: string) =>
    onChange({ ...without(search, name), ...(value !== '' && { [name]: value }) })
  const types: ReadonlyArray<{ value: FileType | 'all'; label: string }> = [
    { value: 'all', label: FILES.allTypes },
    ...TYPES.map((value) => ({ value, label: FILES.types[value] })),
  ]
  return (
    <>
      <Popover
        className="w-80"
        trigger={
          <Button
            icon={<ListFilter aria-hidden="true" className="size-4" />}
            {...(active.length > 0 && { 'aria-label': FILES.filterCount(active.length) })}
          >
            {FILES.filters}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Field label={FILES.type}>
            <Select
              value={search.type ?? 'all'}
              onChange={(value) => set('type', value === 'all' ? '' : value)}
              options={types}
            />
          </Field>
          <Field label={FILES.tag} hint={FILES.tagHint}>
            <Input
              list={listId}
              defaultValue={search.tag ?? ''}
              maxLength={TAG_MAX_BYTES}
              onBlur={(event) => set('tag', event.target.value.trim())}
              onKeyDown={(event) => event.key === 'Enter' && set('tag', event.currentTarget.value.trim())}
            />
          </Field>
          <datalist id={listId}>
            {tags.map((tag) => (
              <option key={tag} value={tag} />
            ))}
          </datalist>
          <div className="grid grid-cols-2 gap-2 pointer-coarse:grid-cols-1">
            <Field label={FILES.from}>
              <Input
                type="date"
                value={search.from ?? ''}
                {...(search.to && { max: search.to })}
                onChange={(event) => set('from', event.target.value)}
              />
            </Field>
            <Field label={FILES.to}>
              <Input
                type="date"
                value={search.to ?? ''}
                {...(search.from && { min: search.from })}
                onChange={(event) => set('to', event.target.value)}
              />
            </Field>
          </div>
          <p className="text-muted text-xs">{FILES.dateHint}</p>
        </div>
      </Popover>
      {active.map((name) => (
        <Button
          key={name}
          look="quiet"
          className="max-w-48 bg-accent-soft! text-accent-ink!"
          aria-label={FILES.removeFilter(labelOf(name, search))}
          onClick={() => onChange(without(search, name))}
        >
          <span className="min-w-0 truncate">{labelOf(name, search)}</span>
          <X aria-hidden="true" className="size-3.5 shrink-0" />
        </Button>
      ))}
    </>
  )
}

function labelOf(name: (typeof NAMES)[number], search: FilesSearch): string {
  const value = search[name] ?? ''
  if (name === 'type') return FILES.types[value as FileType]
  if (name === 'from') return FILES.fromDay(formatDate(`${value}T12:00`))
  return name === 'to' ? FILES.toDay(formatDate(`${value}T12:00`)) : value
}

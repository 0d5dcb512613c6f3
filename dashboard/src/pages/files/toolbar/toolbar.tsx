import { ArrowUpDown, LayoutGrid, Rows3, Search, X } from 'lucide-react'
import { type RefObject, useEffect, useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Segmented } from '../../../ui/forms/choices.tsx'
import { Input } from '../../../ui/forms/field.tsx'
import { Menu } from '../../../ui/overlays/menu.tsx'
import type { View } from '../list/browser.tsx'
import { type FilesSearch, isFiltered, SORTS, without } from '../search.ts'
import { FILES } from '../texts.ts'
import { Filters } from './filters.tsx'

const TYPING_MS = 250

/** Search, filters, order and view of the list. */
export function Toolbar({
  search,
  onChange,
  view,
  onView,
  searchField,
  tags,
}: {
  search: FilesSearch
  onChange: (change: FilesSearch) => void
  view: View
  onView: (view: View) => void
  searchField: RefObject<HTMLInputElement | null>
  /** Tags to propose. */
  tags: readonly string[]
}) {
  const sort = search.sort ?? '-uploaded'
  // With filters the list has files of many folders, and their keys begin with the folder.
  const sorts = SORTS.filter((one) => !isFiltered(search) || !one.endsWith('key'))
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <SearchField
        text={search.q ?? ''}
        onChange={(q) => onChange({ ...without(search, 'q'), ...(q && { q }) })}
        field={searchField}
      />
      <Filters search={search} onChange={onChange} tags={tags} />
      <span className="flex-1" />
      <Menu
        align="end"
        trigger={
          <Button
            look="quiet"
            icon={<ArrowUpDown aria-hidden="true" className="size-4" />}
            aria-label={`${FILES.sort}: ${FILES.sorts[sort]}`}
          >
            <span className="max-sm:hidden">{FILES.sorts[sort]}</span>
          </Button>
        }
        groups={[
          sorts.map((one) => ({
            label: FILES.sorts[one],
            isChecked: one === sort,
            onSelect: () =>
              onChange({ ...without(search, 'sort'), ...(one !== '-uploaded' && { sort: one }) }),
          })),
        ]}
      />
      <Segmented
        label={FILES.view}
        value={view}
        onChange={onView}
        options={[
          { value: 'grid', label: <LayoutGrid aria-hidden="true" />, title: FILES.grid },
          { value: 'table', label: <Rows3 aria-hidden="true" />, title: FILES.table },
        ]}
      />
    </div>
  )
}

/** Searches when the typing pauses. */
function SearchField({
  text,
  onChange,
  field,
}: {
  text: string
  onChange: (text: string) => void
  field: RefObject<HTMLInputElement | null>
}) {
  const [typed, setTyped] = useState(text)
  const [sent, setSent] = useState(text)
  // The search has changed in another way, for example by the button "back".
  if (text !== sent) {
    setSent(text)
    setTyped(text)
  }
  useEffect(() => {
    if (typed.trim() === sent) return undefined
    const timer = setTimeout(() => {
      setSent(typed.trim())
      onChange(typed.trim())
    }, TYPING_MS)
    return () => clearTimeout(timer)
  })
  return (
    <div className="relative w-full sm:w-64">
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute inset-y-0 left-2.5 my-auto size-4 text-muted"
      />
      <Input
        ref={field}
        type="search"
        aria-label={FILES.searchLabel}
        placeholder={FILES.searchPlaceholder}
        value={typed}
        maxLength={100}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          if (typed === '') field.current?.blur()
          setTyped('')
        }}
        className="h-8! pr-8 pl-8 pointer-coarse:pr-10 [&::-webkit-search-cancel-button]:hidden"
      />
      {typed !== '' && (
        <button
          type="button"
          aria-label={FILES.clearSearch}
          onClick={() => {
            setTyped('')
            field.current?.focus()
          }}
          className="absolute inset-y-0 right-0 flex w-8 items-center justify-center rounded-md pointer-coarse:w-10 text-muted hover:text-ink"
        >
          <X aria-hidden="true" className="size-4" />
        </button>
      )}
    </div>
  )
}

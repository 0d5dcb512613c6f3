import { Search } from 'lucide-react'
import { useState } from 'react'
import type { SystemReport } from '../../../../client/index.ts'
import { Segmented } from '../../ui/forms/choices.tsx'
import { Input } from '../../ui/forms/field.tsx'
import { Card } from '../../ui/page.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { HEALTH } from './texts.ts'
import { formatSetting } from './values.ts'

type Setting = SystemReport['settings'][number]

/** A variable that bounds something: a size, a time, a rate or a number. */
const LIMIT = /_(BYTES|SECONDS|LIMIT|LIMIT_PER_IP|PIXELS|FILES|WAITING|ADDRESS|CONCURRENCY|TIMES|ENTRIES)$/

const COLUMNS: ReadonlyArray<Column<Setting>> = [
  {
    key: 'name',
    header: HEALTH.name,
    className: 'align-top',
    cell: ({ name, help }) => (
      <>
        <code className="break-all font-mono text-xs leading-5 md:whitespace-nowrap">{name}</code>
        <span className="mt-0.5 block text-muted md:hidden">{help}</span>
      </>
    ),
  },
  {
    key: 'value',
    header: HEALTH.value,
    className: 'align-top',
    cell: ({ name, value }) => (
      <span
        className="block min-w-16 max-w-44 break-words font-medium tabular-nums"
        title={typeof value === 'number' ? String(value) : undefined}
      >
        {formatSetting(name, value)}
      </span>
    ),
  },
  {
    key: 'help',
    header: HEALTH.effect,
    hiddenBelow: 'md',
    className: 'align-top',
    cell: ({ help }) => <span className="block min-w-56 text-muted">{help}</span>,
  },
]

/** The values of the configuration that are in force. */
export function Settings({ settings }: Pick<SystemReport, 'settings'>) {
  const [text, setText] = useState('')
  const [shown, setShown] = useState<'limits' | 'all'>('limits')
  const words = text.toLowerCase().split(/\s+/)
  const isMatch = ({ name, help }: Setting) =>
    words.every((word) => `${name} ${help}`.toLowerCase().includes(word))
  // A search covers all settings: a match must not hide behind the other choice.
  const rows = settings.filter((setting) =>
    text.trim() ? isMatch(setting) : shown === 'all' || LIMIT.test(setting.name),
  )
  return (
    <Card
      title={HEALTH.settings}
      description={HEALTH.settingsText}
      isFlush
      actions={
        <div className="flex flex-wrap items-center gap-2">
          <Segmented
            label={HEALTH.shown}
            value={text.trim() ? 'all' : shown}
            onChange={setShown}
            options={[
              { value: 'limits', label: HEALTH.limits },
              { value: 'all', label: HEALTH.allSettings },
            ]}
          />
          <div className="relative">
            <Search aria-hidden="true" className="absolute top-2 left-2.5 size-4 text-muted" />
            <Input
              type="search"
              aria-label={HEALTH.search}
              placeholder={HEALTH.search}
              className="h-8 w-52 pl-8 text-sm"
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        </div>
      }
    >
      {rows.length > 0 ? (
        <Table label={HEALTH.settings} columns={COLUMNS} rows={rows} keyOf={({ name }) => name} />
      ) : (
        <p role="status" className="px-4 py-10 text-center text-muted">
          {HEALTH.noMatch(text.trim())}
        </p>
      )}
    </Card>
  )
}

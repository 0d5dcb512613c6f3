import { RotateCcw, Trash2 } from 'lucide-react'
import type { ListedFile } from '../../../../client/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { formatAgo, formatBytes, formatTime } from '../../ui/format.ts'
import { Checkbox } from '../../ui/forms/choices.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { TRASH } from './texts.ts'

/** The deleted files, with what can be done with each of them. */
export function TrashTable({
  files,
  chosen,
  onChoose,
  mayChange,
  onRestore,
  onRemove,
}: {
  files: readonly ListedFile[]
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
  mayChange: boolean
  onRestore: (file: ListedFile) => void
  onRemove: (file: ListedFile) => void
}) {
  const toggle = (key: string) => {
    const next = new Set(chosen)
    if (!next.delete(key)) next.add(key)
    onChoose(next)
  }
  const isAll = files.every(({ s3PathOriginal }) => chosen.has(s3PathOriginal))
  const columns: Array<Column<ListedFile>> = [
    {
      key: 'name',
      header: TRASH.columns.name,
      className: 'max-w-64 truncate font-medium',
      cell: (file) => <span title={nameOf(file)}>{nameOf(file)}</span>,
    },
    {
      key: 'folder',
      header: TRASH.columns.folder,
      hiddenBelow: 'md',
      className: 'max-w-48 truncate text-muted',
      cell: ({ s3PathOriginal }) => s3PathOriginal.split('/').slice(0, -3).join('/') || TRASH.topLevel,
    },
    {
      key: 'size',
      header: TRASH.columns.size,
      hiddenBelow: 'sm',
      isNumeric: true,
      className: 'whitespace-nowrap text-muted',
      cell: ({ size }) => formatBytes(size),
    },
    {
      key: 'deleted',
      header: TRASH.columns.deleted,
      hiddenBelow: 'lg',
      className: 'whitespace-nowrap text-muted',
      cell: ({ deletedAt }) => <Instant at={deletedAt} />,
    },
    {
      key: 'until',
      header: TRASH.columns.until,
      className: 'whitespace-nowrap text-muted',
      cell: ({ deletedUntil }) => <Instant at={deletedUntil} />,
    },
  ]
  if (mayChange) {
    columns.unshift({
      key: 'selection',
      header: (
        <Checkbox
          checked={isAll ? true : chosen.size > 0 ? 'mixed' : false}
          onChange={() => onChoose(new Set(isAll ? [] : files.map(({ s3PathOriginal }) => s3PathOriginal)))}
          label={TRASH.selectAll}
          isLabelHidden
        />
      ),
      className: 'w-10 pr-0!',
      cell: (file) => (
        <Checkbox
          checked={chosen.has(file.s3PathOriginal)}
          onChange={() => toggle(file.s3PathOriginal)}
          label={TRASH.select(nameOf(file))}
          isLabelHidden
        />
      ),
    })
    columns.push({
      key: 'actions',
      header: TRASH.columns.actions,
      isHeaderHidden: true,
      className: 'w-24 whitespace-nowrap text-right',
      cell: (file) => (
        <>
          <IconButton label={TRASH.restoreOf(nameOf(file))} onClick={() => onRestore(file)}>
            <RotateCcw aria-hidden="true" />
          </IconButton>
          <IconButton label={TRASH.removeOf(nameOf(file))} onClick={() => onRemove(file)}>
            <Trash2 aria-hidden="true" />
          </IconButton>
        </>
      ),
    })
  }
  return (
    <Table columns={columns} rows={files} keyOf={({ s3PathOriginal }) => s3PathOriginal} label={TRASH.list} />
  )
}

function Instant({ at }: { at: string | undefined }) {
  return at === undefined ? null : (
    <time dateTime={at} title={formatTime(at)}>
      {formatAgo(at)}
    </time>
  )
}

function nameOf(file: ListedFile): string {
  return file.originalName || file.sourceName
}

import { useState } from 'react'
import type { ListedJob } from '../../../../client/index.ts'
import { useMay } from '../../api/session.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { formatAgo, formatNumber, formatPercent, formatTime } from '../../ui/format.ts'
import { ConfirmDialog } from '../../ui/overlays/dialog.tsx'
import { Progress } from '../../ui/progress.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { JobActions } from './actions.tsx'
import { optionsOf } from './job.ts'
import { JOBS } from './texts.ts'
import { useFileName } from './use-file-name.ts'
import { useJobChanges } from './use-job-changes.ts'

const TONES: Record<ListedJob['state'], Tone> = {
  waiting: 'neutral',
  active: 'accent',
  failed: 'danger',
  done: 'success',
}

/** Media jobs, with their progress and with why they have failed. */
export function JobsTable({ jobs }: { jobs: readonly ListedJob[] }) {
  const mayChange = useMay('editor')
  const { retry, cancel } = useJobChanges()
  const [canceled, setCanceled] = useState<ListedJob>()
  const columns: Array<Column<ListedJob>> = [
    {
      key: 'file',
      header: JOBS.file,
      className: 'w-full max-w-0 py-3 align-top',
      cell: (job) => <FileOfJob job={job} />,
    },
    {
      key: 'state',
      header: JOBS.state,
      hiddenBelow: 'sm',
      className: 'py-3 align-top',
      cell: (job) => <StateOfJob job={job} />,
    },
    {
      key: 'attempts',
      header: JOBS.attempts,
      isNumeric: true,
      hiddenBelow: 'lg',
      className: 'py-3 align-top',
      cell: ({ attempts }) => formatNumber(attempts),
    },
    {
      key: 'created',
      header: JOBS.created,
      hiddenBelow: 'md',
      className: 'py-3 align-top',
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} title={formatTime(createdAt)} className="whitespace-nowrap text-muted">
          {formatAgo(createdAt)}
        </time>
      ),
    },
    {
      key: 'actions',
      header: JOBS.actions,
      isHeaderHidden: true,
      isNumeric: true,
      className: 'w-24 py-2 align-top',
      cell: (job) => (
        <JobActions
          job={job}
          mayChange={mayChange}
          onRetry={() => retry(job)}
          onCancel={() => (job.state === 'active' ? setCanceled(job) : cancel(job))}
        />
      ),
    },
  ]
  return (
    <>
      <Table label={JOBS.list} columns={columns} rows={jobs} keyOf={({ id }) => id} />
      {canceled && (
        <CancelDialog
          job={canceled}
          onClose={() => setCanceled(undefined)}
          onConfirm={() => cancel(canceled)}
        />
      )}
    </>
  )
}

function CancelDialog({
  job,
  onClose,
  onConfirm,
}: {
  job: ListedJob
  onClose: () => void
  onConfirm: () => Promise<void>
}) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title={JOBS.cancelTitle}
      description={JOBS.cancelText(useFileName(job))}
      action={JOBS.cancel}
      onConfirm={onConfirm}
    />
  )
}

function FileOfJob({ job }: { job: ListedJob }) {
  const options = optionsOf(job)
  const name = useFileName(job)
  return (
    <div className="min-w-0">
      <p className="truncate font-medium" title={job.file}>
        {name}
      </p>
      {options && (
        <p className="truncate font-mono text-muted text-xs" title={options}>
          {options}
        </p>
      )}
      {job.error && (
        <p className="mt-1 text-danger-ink">
          {job.error.detail} <code className="whitespace-nowrap font-mono text-xs">{job.error.code}</code>
        </p>
      )}
      <div className="mt-1.5 sm:hidden">
        <StateOfJob job={job} />
      </div>
    </div>
  )
}

function StateOfJob({ job }: { job: ListedJob }) {
  const name = useFileName(job)
  if (job.state !== 'active') return <Badge tone={TONES[job.state]}>{JOBS.states[job.state]}</Badge>
  return (
    <div className="w-44">
      <div className="mb-1.5 flex items-center justify-between gap-2">
        <Badge tone="accent">{JOBS.states.active}</Badge>
        <span className="text-muted text-xs tabular-nums">
          {formatPercent(Math.floor(job.progress * 100) / 100)}
        </span>
      </div>
      <Progress value={job.progress} label={JOBS.progressOf(name)} />
    </div>
  )
}

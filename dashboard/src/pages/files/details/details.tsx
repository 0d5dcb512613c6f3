import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { FileX } from 'lucide-react'
import { useState } from 'react'
import { type FileWithDerivatives, SluiceError } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { EmptyState, ErrorState } from '../../../ui/states.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import type { Neighbours } from '../list/sparse.ts'
import { Actions, type OpenDialog } from './actions/actions.tsx'
import { fileQuery } from './data/file.ts'
import { Panel } from './panel.tsx'
import { Preview } from './preview/preview.tsx'
import { About } from './tabs/about.tsx'
import { Aliases } from './tabs/aliases.tsx'
import { Derivatives } from './tabs/derivatives.tsx'
import { Edit } from './tabs/edit.tsx'
import { Share } from './tabs/share.tsx'
import { DETAILS } from './texts.ts'

type Tab = 'about' | 'edit' | 'share' | 'derivatives' | 'aliases'

/** The details of one file, in a panel over the list. The chosen tab remains when another file is shown. */
export function Details({
  fileKey,
  neighbours: { previous, next },
  onClose,
}: {
  fileKey: string
  neighbours: Neighbours
  onClose: () => void
}) {
  const { data, error, refetch } = useQuery(fileQuery(useClient(), fileKey))
  const isMissing = error instanceof SluiceError && error.status === 404
  // It may have been moved or deleted since it was loaded.
  const file = isMissing ? undefined : data
  const navigate = useNavigate()
  const [tab, setTab] = useState<Tab>('about')
  const [dialog, setDialog] = useState<OpenDialog>()
  const show = (key: string) => {
    setDialog(undefined)
    void navigate({ to: '.', search: ((last: object) => ({ ...last, file: key })) as never, replace: true })
  }
  return (
    <Panel
      title={file?.originalName}
      onClose={onClose}
      onPrevious={previous ? () => show(previous) : undefined}
      onNext={next ? () => show(next) : undefined}
      onKey={(key) => {
        if (key === 'F2') setDialog('rename')
        else if (key === 'Delete') setDialog('delete')
      }}
      actions={
        file && (
          <Actions
            file={file}
            dialog={dialog}
            setDialog={setDialog}
            openAliases={() => setTab('aliases')}
            onShow={show}
            onDeleted={onClose}
          />
        )
      }
      preview={
        file ? <Preview key={fileKey} file={file} /> : !error && <Skeleton className="h-full rounded-none" />
      }
    >
      {file ? (
        // A new file is a new form.
        <Tabs key={fileKey} label={DETAILS.tabs} value={tab} onChange={setTab} tabs={tabsOf(file)} />
      ) : isMissing ? (
        <EmptyState icon={<FileX />} title={DETAILS.notFound}>
          {DETAILS.notFoundHint}
        </EmptyState>
      ) : error ? (
        <ErrorState error={error} title={DETAILS.loadFailed} onRetry={() => void refetch()} />
      ) : (
        <div className="flex flex-col gap-3">
          <Skeleton className="h-8" />
          <Skeleton className="h-4 w-1/2" />
          <Skeleton className="h-4 w-2/3" />
          <Skeleton className="h-4 w-1/3" />
        </div>
      )}
    </Panel>
  )
}

function tabsOf(file: FileWithDerivatives) {
  const { length } = file.derivatives
  return [
    { value: 'about' as const, label: DETAILS.about, content: <About file={file} /> },
    { value: 'edit' as const, label: DETAILS.edit, content: <Edit file={file} /> },
    { value: 'share' as const, label: DETAILS.share, content: <Share file={file} /> },
    {
      value: 'derivatives' as const,
      label: (
        <>
          {DETAILS.derivatives}
          {length > 0 && <span className="ml-1.5 text-faint tabular-nums">{length}</span>}
        </>
      ),
      content: <Derivatives file={file} />,
    },
    { value: 'aliases' as const, label: DETAILS.aliases, content: <Aliases file={file} /> },
  ]
}

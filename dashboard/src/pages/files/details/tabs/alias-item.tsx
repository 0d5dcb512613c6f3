import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ChevronRight, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { FileWithDerivatives, ListedAlias } from '../../../../../../client/index.ts'
import { useClient } from '../../../../api/session.ts'
import { Badge } from '../../../../ui/badge.tsx'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { CopyButton } from '../../../../ui/copy-button.tsx'
import { formatTime } from '../../../../ui/format.ts'
import { ConfirmDialog } from '../../../../ui/overlays/dialog.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { SkeletonRows } from '../../../../ui/skeleton.tsx'
import { Notice } from '../../../../ui/states.tsx'
import { DETAILS } from '../texts.ts'

/** One alias, with its versions when they are opened. */
export function AliasItem({
  alias,
  file,
  mayEdit,
  onChange,
}: {
  alias: ListedAlias
  file: FileWithDerivatives
  mayEdit: boolean
  onChange: () => void
}) {
  const { sluice } = useClient()
  const [isOpen, setOpen] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const { name, src, version } = alias
  return (
    <li className="px-3 py-2">
      <div className="flex items-center gap-1">
        <div className="min-w-0 flex-1">
          <p className="break-all font-medium text-sm">{name}</p>
          <p className="text-muted text-xs">
            {DETAILS.aliasVersion(version)}, {formatTime(alias.setAt)}
          </p>
        </div>
        <CopyButton text={src} label={DETAILS.copyUrl} size="small" />
        {mayEdit && (
          <IconButton label={DETAILS.aliasDelete(name)} size="small" onClick={() => setAsking(true)}>
            <Trash2 />
          </IconButton>
        )}
      </div>
      {alias.file !== file.s3PathOriginal && (
        <p className="mt-1 text-warning-ink text-xs">{DETAILS.aliasElsewhere}</p>
      )}
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="mt-1 inline-flex items-center gap-0.5 rounded-sm text-muted text-xs hover:text-ink"
      >
        <ChevronRight
          aria-hidden="true"
          className={`size-3.5 transition-transform ${isOpen ? 'rotate-90' : ''}`}
        />
        {DETAILS.aliasHistory}
      </button>
      {isOpen && <History name={name} file={file} mayEdit={mayEdit} onChange={onChange} />}
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={DETAILS.aliasDeleteTitle(name)}
        description={DETAILS.aliasDeleteText}
        action={DETAILS.aliasDeleteAction}
        onConfirm={async () => {
          await sluice.aliases.delete(name)
          onChange()
        }}
      />
    </li>
  )
}

/** The last versions of an alias. */
function History({
  name,
  file,
  mayEdit,
  onChange,
}: {
  name: string
  file: FileWithDerivatives
  mayEdit: boolean
  onChange: () => void
}) {
  const { client, sluice } = useClient()
  const queryClient = useQueryClient()
  const queryKey = [client.id, 'file', 'aliases', name]
  const { data, error } = useQuery({
    queryKey,
    queryFn: ({ signal }) => sluice.aliases.get(name, { signal }),
  })
  const { mutate, isPending } = useMutation({
    mutationFn: (version: number) => sluice.aliases.rollback(name, { version }),
    onSuccess(alias) {
      queryClient.setQueryData(queryKey, alias)
      toast.success(DETAILS.aliasRolledBack(name))
      onChange()
    },
    onError: toast.failure,
  })
  if (error) return <Notice tone="danger">{error.message}</Notice>
  if (!data) return <SkeletonRows rows={1} />
  return (
    <ol className="mt-2 flex flex-col gap-1 border-line border-l pl-3">
      {data.versions.map(({ version, file: key, setAt, missing }, index) => (
        <li key={version} className="flex min-h-8 items-center gap-2 text-xs">
          <div className="min-w-0 flex-1">
            <p className="truncate font-mono" title={key}>
              {key === file.s3PathOriginal ? DETAILS.aliasThis : key.split('/').at(-1)}
            </p>
            <p className="text-muted">
              {DETAILS.aliasVersion(version)}, {formatTime(setAt)}
            </p>
          </div>
          {missing && <Badge tone="warning">{DETAILS.aliasMissing}</Badge>}
          {index === 0 ? (
            <Badge tone="success">{DETAILS.aliasCurrent}</Badge>
          ) : (
            mayEdit && (
              <Button size="small" isBusy={isPending} disabled={missing} onClick={() => mutate(version)}>
                {DETAILS.aliasRollback}
              </Button>
            )
          )}
        </li>
      ))}
    </ol>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { ExternalLink, Layers, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { reachable } from '../../../../api/base.ts'
import { useClient, useMay } from '../../../../api/session.ts'
import { Badge } from '../../../../ui/badge.tsx'
import { Button } from '../../../../ui/button.tsx'
import { formatBytes } from '../../../../ui/format.ts'
import { ConfirmDialog } from '../../../../ui/overlays/dialog.tsx'
import { toast } from '../../../../ui/overlays/toast.tsx'
import { EmptyState } from '../../../../ui/states.tsx'
import { fileQuery } from '../data/file.ts'
import { DETAILS } from '../texts.ts'

/** The number of derivatives, and their size in bytes. Those in progress have no size. */
export function totalOf({ derivatives }: FileWithDerivatives): { count: number; bytes: number } {
  return { count: derivatives.length, bytes: derivatives.reduce((sum, { size }) => sum + (size ?? 0), 0) }
}

/** What was rendered of a file. */
export function Derivatives({ file }: { file: FileWithDerivatives }) {
  const chosen = useClient()
  const queryClient = useQueryClient()
  const mayEdit = useMay('editor')
  const [isAsking, setAsking] = useState(false)
  const { count, bytes } = totalOf(file)
  async function deleteAll(): Promise<void> {
    const deleted = await chosen.sluice.files.deleteDerivatives(file)
    const { queryKey } = fileQuery(chosen, file.s3PathOriginal)
    queryClient.setQueryData(queryKey, { ...file, derivatives: [] })
    toast.success(DETAILS.derivativesDeleted(deleted.derivatives))
  }
  if (count === 0)
    return (
      <EmptyState icon={<Layers />} title={DETAILS.noDerivatives} className="py-10">
        {DETAILS.noDerivativesHint}
      </EmptyState>
    )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex min-h-8 items-center justify-between gap-2">
        <p className="text-muted text-sm">
          {DETAILS.derivativeCount(count)}, {formatBytes(bytes)}
        </p>
        {mayEdit && (
          <Button
            size="small"
            icon={<Trash2 aria-hidden="true" className="size-3.5" />}
            onClick={() => setAsking(true)}
          >
            {DETAILS.derivativesDelete}
          </Button>
        )}
      </div>
      <ul className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
        {file.derivatives.map(({ key, src, mediaType, size, state }) => {
          const name = nameOf(key, file)
          return (
            <li key={key} className="flex items-center gap-3 px-3 py-2">
              <div className="min-w-0 flex-1">
                <p className="break-all font-mono text-xs">{name}</p>
                <p className="text-muted text-xs">{mediaType ?? ''}</p>
              </div>
              {state === 'pending' ? (
                <Badge tone="accent">{DETAILS.inProgress}</Badge>
              ) : (
                <span className="whitespace-nowrap text-muted tabular-nums">{formatBytes(size ?? 0)}</span>
              )}
              <Button asChild look="quiet" size="small">
                <a
                  href={reachable(src)}
                  target="_blank"
                  rel="noreferrer"
                  aria-label={DETAILS.openDerivative(name)}
                >
                  <ExternalLink aria-hidden="true" className="size-3.5" />
                </a>
              </Button>
            </li>
          )
        })}
      </ul>
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={DETAILS.derivativesDeleteTitle}
        description={DETAILS.derivativesDeleteText}
        action={DETAILS.derivativesDeleteAction}
        onConfirm={deleteAll}
      />
    </div>
  )
}

/** What the name of a derivative adds to that of its original: its parameters. */
function nameOf(key: string, { s3PathOriginal }: FileWithDerivatives): string {
  return key.startsWith(s3PathOriginal) ? key.slice(s3PathOriginal.length).replace(/^_/, '') : key
}

import { Copy, Ellipsis, ExternalLink, RotateCcw, X } from 'lucide-react'
import { useState } from 'react'
import type { ListedJob } from '../../../../client/index.ts'
import { reachable } from '../../api/base.ts'
import { useClient } from '../../api/session.ts'
import { IconButton } from '../../ui/button.tsx'
import { copyText } from '../../ui/copy-button.tsx'
import { Menu } from '../../ui/overlays/menu.tsx'
import { toast } from '../../ui/overlays/toast.tsx'
import { JOBS } from './texts.ts'
import { useFileName } from './use-file-name.ts'

const LINK_SECONDS = 3600

/** What can be done with a job: the most likely thing as a button, the rest in a menu. */
export function JobActions({
  job,
  mayChange,
  onRetry,
  onCancel,
}: {
  job: ListedJob
  mayChange: boolean
  onRetry: () => Promise<void>
  onCancel: () => void
}) {
  const { client, sluice } = useClient()
  const [isBusy, setBusy] = useState(false)
  const hasEnded = job.state === 'done' || job.state === 'failed'
  const retry = () => {
    setBusy(true)
    void onRetry().finally(() => setBusy(false))
  }
  /** In a tab that is opened at once: browsers block tabs that are opened after a request. */
  async function open(): Promise<void> {
    const tab = window.open()
    if (tab) tab.opener = null
    try {
      const url = client.signedUrls ? await sluice.urls.sign(job.url, { expiresIn: LINK_SECONDS }) : job.url
      if (tab) tab.location.href = reachable(url)
    } catch (error) {
      tab?.close()
      toast.failure(error)
    }
  }
  const copy = () => void copyText(job.url).then(() => toast.success(JOBS.urlCopied), toast.failure)
  return (
    <span className="flex justify-end gap-1">
      {mayChange && job.state === 'failed' && (
        <IconButton label={JOBS.retry} isBusy={isBusy} onClick={retry}>
          <RotateCcw aria-hidden="true" />
        </IconButton>
      )}
      {mayChange && !hasEnded && (
        <IconButton label={JOBS.cancel} onClick={onCancel}>
          <X aria-hidden="true" />
        </IconButton>
      )}
      <Menu
        align="end"
        trigger={
          <IconButton label={JOBS.actionsOf(useFileName(job))}>
            <Ellipsis aria-hidden="true" />
          </IconButton>
        }
        groups={[
          [
            job.state === 'done' && {
              label: JOBS.open,
              icon: <ExternalLink aria-hidden="true" />,
              onSelect: () => void open(),
            },
            { label: JOBS.copyUrl, icon: <Copy aria-hidden="true" />, onSelect: copy },
          ],
          [
            mayChange &&
              hasEnded && { label: JOBS.remove, icon: <X aria-hidden="true" />, onSelect: onCancel },
          ],
        ]}
      />
    </span>
  )
}
